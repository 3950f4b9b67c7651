import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const ROOM = 16;

// Widths of characters that were looked up already.
const widths = new Map();

function width(char) {
  if (!widths.has(char)) widths.set(char, /\p{Extended_Pictographic}/u.test(char) ? 2 : 1);
  return widths.get(char);
}

/** Cuts a text after the last character that fits. */
function cut(text) {
  const chars = [];
  let room = ROOM;
  for (const char of text) {
    room -= width(char);
    if (room < 0) return `${chars.join('')}…`;
    chars.push(char);
  }
  return text;
}

step(
  'Chat.Preview',
  {
    description: 'Cuts messages for the list of chats.',
    input: object({ messages: array(object({ from: string(), text: string() })) }),
    output: object({ previews: array(string()), senders: array(string()), count: integer() }),
    determinism: 'pure',
  },
  ({ messages }) => {
    if (messages.length > 100) throw new Failure('INVALID_INPUT', `${messages.length} messages: at most 100`);
    // A set keeps the order in which its values were added.
    const senders = [...new Set(messages.map(({ from }) => from))];
    return { previews: messages.map(({ text }) => cut(text)), senders, count: messages.length };
  },
);
