import type { Projects } from '../projects/index.ts';
import type { KeepDays } from '../projects/schema.ts';
import type { Content } from './content.ts';
import type { Import } from './schema.ts';

/** Makes the settings of a file such as a project may have them here, and tells of what it changed. */
export function boundSettings(
  content: Content,
  projects: Pick<Projects, 'boundKeepDays'>,
): Import['warnings'] {
  return (content['settings'] ?? []).flatMap((settings) => {
    const row = JSON.parse(settings.row) as { keep_days: KeepDays };
    const asked = row.keep_days;
    const bound = projects.boundKeepDays(asked);
    settings.row = JSON.stringify({ ...row, keep_days: bound });
    return (Object.keys(asked) as (keyof KeepDays)[]).flatMap((kind) =>
      asked[kind] === bound[kind]
        ? []
        : [
            {
              message: `keepDays.${kind} of the file is ${asked[kind]}, and no project keeps more than ${bound[kind]} here, the days of the operator.`,
            },
          ],
    );
  });
}
