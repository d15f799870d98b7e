import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { problemKinds } from '../src/problems.ts';
import { installSubPackage } from './sub-package.ts';

const tools = join(import.meta.dirname, '../test/openapi');
const head = '/* Written by `npm run generate`. */\n';

/** What is used of `openapi-typescript`, which is installed with the other tools for the document. */
interface Generator {
  default: (document: string, options: object) => Promise<unknown>;
  astToString: (nodes: unknown) => string;
}

/** The generated files of the client, by path: the types of the document, without its examples, and the codes of problems. */
export async function clientTypes(document: unknown): Promise<[string, string][]> {
  installSubPackage(tools);
  const file = join(tools, 'node_modules/openapi-typescript/dist/index.mjs');
  const generator = (await import(pathToFileURL(file).href)) as Generator;
  const nodes = await generator.default(JSON.stringify(document, withoutExamples), {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    silent: true,
    // What has a default may be left away by whoever calls.
    defaultNonNullable: false,
  });
  const codes = Object.keys(problemKinds).sort();
  const folder = 'ui/client/src/generated';
  return [
    [`${folder}/api.ts`, head + generator.astToString(nodes)],
    [
      `${folder}/problem-codes.ts`,
      `${head}export type ProblemCode =\n${codes.map((code) => `  | '${code}'`).join('\n')};\n`,
    ],
  ];
}

/** Examples tell nothing to a compiler and are most of the document. A property that is named so is a schema, and stays. */
function withoutExamples(this: unknown, key: string, value: unknown): unknown {
  const isExample = key === 'example' || key === 'examples';
  return isExample && typeof this === 'object' && this !== null && ('schema' in this || '$ref' in this)
    ? undefined
    : value;
}
