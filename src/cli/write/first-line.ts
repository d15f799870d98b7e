import { exitCodes, Failure } from '../failure.ts';
import { isUtf16 } from '../text-file.ts';

const lines = 'a JSON object in each line';

/** Throws where the first line shows that no line is going to be a record: then none is sent. */
export function refuseStrange(bytes: Buffer, file?: string): void {
  const strange = strangenessOf(bytes, file === undefined ? '' : ` ${file} > lines.ndjson`);
  if (strange)
    throw new Failure(
      `${file ?? 'What was piped in'} ${strange.is}, and svc write takes ${lines}.`,
      strange.remedy,
      exitCodes.usage,
    );
}

function strangenessOf(bytes: Buffer, into: string): { is: string; remedy: string } | undefined {
  if (isUtf16(bytes)) return { is: 'is UTF-16 text', remedy: 'Save it as UTF-8.' };
  const first = bytes.toString().trim();
  if (first.startsWith('['))
    return { is: 'is a JSON array', remedy: `Make lines of it, such as by jq -c '.[]'${into}` };
  if (first === '{')
    return {
      is: 'has an object over several lines',
      remedy: `Make one line of each, such as by jq -c .${into}`,
    };
  if (first.startsWith('{')) return undefined;
  return {
    is: 'begins with no JSON object',
    remedy: `Write it as '{"email":"ada@example.com"}', one a line.`,
  };
}
