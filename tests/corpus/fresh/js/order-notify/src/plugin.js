import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

step(
  'Order.Notify',
  {
    description: 'Tells everyone who takes part in an order that it was shipped.',
    input: object({ order: string(), people: array(string()), carrier: string() }),
    output: object({ sent: array(string()), parcels: integer() }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ order, people, carrier }) => {
    const recipients = [...new Set(people.map((one) => one.trim().toLowerCase()))].filter((one) => one !== '').sort();
    if (recipients.length === 0) throw new Failure('INVALID_INPUT', `order ${order} has no recipient`);
    const parcels = tools.call('Parcel.Count', { order }).count;
    const text = `${parcels === 1 ? 'A parcel' : `${parcels} parcels`} of order ${order} left with ${carrier}.`;
    const sent = [];
    for (const to of recipients) {
      // A second job of the same order must not send the mails again.
      tools.call('Mail.Send', { to, subject: `Order ${order}`, body: text }, { actionKey: `shipped:${order}` });
      sent.push(to);
    }
    return { sent, parcels };
  },
);
