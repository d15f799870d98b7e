import { chosenByIds, erasedOf, eraserByIds, ofChosen } from '../../kit/db/erasing.ts';
import { statement } from '../../kit/db/statement.ts';

const erase = statement(
  'proxy_log_erase',
  `WITH ${chosenByIds('proxy_log', 't.group_ref')},
  lines AS (DELETE FROM proxy_log WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['lines'])}`,
);

export const eraseProxyLog = eraserByIds(erase);
