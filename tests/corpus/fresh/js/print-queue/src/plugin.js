import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const lockOf = ({ printer }) => `lock:${printer}`;
const jobOf = (key) => `job:${key}`;

const queued = ({ printer, pages }, key) =>
  new Output({ printer, pages }, { changes: [{ resourceType: 'print', resourceId: key, operation: 'create' }] });

tool(
  'Print.Queue',
  {
    description: 'Puts a document into the queue of a printer.',
    input: object({ printer: string(), document: string(), pages: integer({ minimum: 1, maximum: 200 }) }),
    output: object({ printer: string(), pages: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const job = kv.text(jobOf(key));
      // The worker that made the call has ended, so its lock on the printer has no use any more.
      kv.delete(lockOf(args));
      return job === undefined ? 'did-not-happen' : happened(queued(args, key));
    },
  },
  (args, context) => {
    const holder = kv.text(lockOf(args));
    if (holder !== undefined && holder !== context.externalKey) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `printer ${args.printer} is in use`, { applied: 'no', retryAfterMs: 2000 });
    }
    kv.set(lockOf(args), context.externalKey);
    kv.set(jobOf(context.externalKey), JSON.stringify({ document: args.document, pages: args.pages }));
    kv.delete(lockOf(args));
    return queued(args, context.externalKey);
  },
);
