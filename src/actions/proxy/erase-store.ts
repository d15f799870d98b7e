import {
  chosenOf,
  erasedOf,
  erasing,
  nothingErased,
  ofChosen,
  type Erased,
  type Eraser,
} from '../../kit/db/erasing.ts';
import { statement } from '../../kit/db/statement.ts';

const erase = statement(
  'proxy_log_erase',
  `WITH ${chosenOf('proxy_log', 't.group_ref')},
  lines AS (DELETE FROM proxy_log WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['lines'])}`,
);

export const eraseProxyLog: Eraser = async (tx, slice, limit) =>
  (await tx.rows<Erased>(erase, erasing(slice, limit)))[0] ?? nothingErased;
