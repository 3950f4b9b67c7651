/** A JSON Schema. */
export type Schema = Record<string, unknown>;
export type Code =
  | 'NETWORK_TIMEOUT' | 'RATE_LIMIT' | 'TEMPORARY_PROVIDER_ERROR' | 'TRANSIENT_DB_LOCK' | 'DEPENDENCY_UNAVAILABLE'
  | 'POLICY_DENIED' | 'INVALID_INPUT' | 'SCHEMA_VALIDATION_FAILED' | 'MISSING_REQUIRED_CONTEXT' | 'AUTH_FORBIDDEN';
export type Effect = 'read_only' | 'produce_outcome' | 'internal_write' | 'external_write' | 'external_send';

export interface Options {
  /** One sentence for people. */
  description?: string;
  input?: Schema;
  output?: Schema;
  effects?: Effect[];
  /** The default is `pure` for steps and `external` for tools. */
  determinism?: 'pure' | 'stable' | 'external';
  outcome?: { type: string; status: 'draft' | 'final' };
  limits?: { memoryBytes?: number; timeoutMs?: number; outputBytes?: number };
}
export interface Context {
  readonly tenant: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly jobId: string;
  readonly planId: string;
  readonly stepId: string;
}
export interface ToolContext extends Context {
  /** Trace id of the job. It is the same in every call and every try of the job, so it identifies no call. */
  readonly traceId: string;
  readonly slot: string;
  /** Idempotency key for the downstream system. The key is the same in every try of this call. */
  readonly externalKey: string;
  /** Number of the worker's attempt at the job. It differs between tries, so it must not be part of a key. */
  readonly attempt: number;
  /**
   * Number of recorded earlier tries, also of tries that certainly changed nothing. The number does not state whether
   * an earlier try changed anything.
   */
  readonly triesBefore: number;
  readonly timeoutMs: number;
}
export interface Change {
  resourceType: string;
  resourceId: string;
  operation: string;
  version?: string;
  etag?: string;
  externalRef?: string;
}
export interface Usage {
  model?: string;
  providerTraceId?: string;
  tokensIn?: number;
  tokensOut?: number;
  costMicroUsd?: number;
  credits?: number;
}
export type Verdict = 'did-not-happen' | 'unknown' | ReturnType<typeof happened> | ReturnType<typeof notYet>;
export interface ToolOptions<Args = any, Result = any> extends Options {
  idempotentByKeySeconds?: number;
  /** Time after the end of a call during which `reconcile` may not yet see its effect: transit, queues and replicas. */
  settlingMs?: number;
  /**
   * Finds out whether the call with this key happened. Has no right to write. `happened` takes the output that the
   * call itself would have returned.
   */
  reconcile?: (args: Args, externalKey: string) => Verdict;
  /**
   * Checks a recorded change. Returns `true` if the change is still in place, else a description of the state found.
   * Throws if the check was not possible. Has no right to write.
   */
  verify?: (change: Change) => true | string;
  /**
   * Undoes the call that had these arguments, this result and this key. Throws if the call can no longer be undone. A
   * person decides after such an error.
   */
  compensate?: (args: Args, result: Result, externalKey: string) => unknown;
}

export function step<Input = any, Output = any>(name: string, options: Options, handler: (input: Input, context: Context) => Output): void;
export function tool<Args = any, Result = any>(
  name: string,
  options: ToolOptions<Args, Result>,
  handler: (args: Args, context: ToolContext) => Result | Output,
): void;

export class Failure extends Error {
  constructor(code: Code, message: string, more?: { retryAfterMs?: number; detail?: unknown; applied?: 'no' | 'unknown'; cause?: unknown });
  readonly code: Code;
  readonly retryAfterMs?: number;
  readonly detail?: unknown;
  readonly applied: 'no' | 'unknown';
}
export class Output {
  constructor(result: unknown, more?: { receipt?: unknown; changes?: Change[]; usage?: Usage });
}
export function happened(result: unknown): { readonly result: unknown };
export function notYet(milliseconds: number): { readonly milliseconds: number };

export const tools: {
  call(operator: string, args: unknown, more?: { actionKey?: string }): any;
  callAll(calls: { operator: string; args: unknown; actionKey?: string }[]): ({ ok: any; failure?: undefined } | { ok?: undefined; failure: Failure })[];
};
export const events: { emit(name: string, payload: unknown): void };
export const config: { get(key: string): any };
export const secrets: { get(name: string): string };
export const kv: {
  get(key: string): Uint8Array | undefined;
  text(key: string): string | undefined;
  set(key: string, value: string | Uint8Array): void;
  delete(key: string): boolean;
};
export const schema: {
  object(properties: Record<string, Schema>, more?: Schema): Schema;
  optional(schema: Schema): Schema;
  string(more?: Schema): Schema;
  integer(more?: Schema): Schema;
  number(more?: Schema): Schema;
  boolean(more?: Schema): Schema;
  array(items: Schema, more?: Schema): Schema;
  oneOf(...values: unknown[]): Schema;
  nullable(schema: Schema): Schema;
  any(): Schema;
};
