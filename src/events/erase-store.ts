import { chosenOf, erasedOf, eraserBy, ofChosen } from '../kit/db/erasing.ts';
import { statement } from '../kit/db/statement.ts';

const erase = statement(
  'events_erase',
  `WITH ${chosenOf('event', 't.group_ref')},
  events AS (DELETE FROM event WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['events'])}`,
);

export const eraseEvents = eraserBy(erase);
