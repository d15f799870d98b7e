import {
  chosenOf,
  erasedOf,
  erasing,
  nothingErased,
  ofChosen,
  type Erased,
  type Eraser,
} from '../kit/db/erasing.ts';
import { statement } from '../kit/db/statement.ts';

const erase = statement(
  'events_erase',
  `WITH ${chosenOf('event', 't.group_ref')},
  events AS (DELETE FROM event WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['events'])}`,
);

export const eraseEvents: Eraser = async (tx, slice, limit) =>
  (await tx.rows<Erased>(erase, erasing(slice, limit)))[0] ?? nothingErased;
