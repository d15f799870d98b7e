import { chosenOf, erasedOf, eraserBy, ofChosen } from '../../kit/db/erasing.ts';
import { statement } from '../../kit/db/statement.ts';

const erase = statement(
  'messages_erase',
  `WITH ${chosenOf('message', 't.group_ref')},
  deliveries AS (DELETE FROM delivery WHERE ${ofChosen('message_id')} RETURNING 1),
  messages AS (DELETE FROM message WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['messages', 'deliveries'])}`,
);

/** With what became of them. What waits is sent no more: its work finds no message, and ends. */
export const eraseMessages = eraserBy(erase);
