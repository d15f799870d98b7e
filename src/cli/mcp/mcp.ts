import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Value } from 'typebox/value';
import packageFile from '../../../package.json' with { type: 'json' };
import { SvcError } from '../../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { Failure } from '../failure.ts';
import { proxyUrlTold } from '../proxy.ts';
import { failureOf } from '../report.ts';
import { toolsOf, type Tool } from './tools.ts';

/** `svc mcp`: a server of the Model Context Protocol on the input and output of the process, until the input ends. */
export async function mcp(
  options: ConnectionOptions & { allowWrites?: boolean; proxyUrl?: string },
): Promise<void> {
  proxyUrlTold(options);
  const svc = await connect(options);
  const tools = toolsOf(svc, options).filter(({ writes }) => !writes || options.allowWrites);
  const { version } = packageFile;
  const server = new Server({ name: 'svc', version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: tools.map(({ name, description, input, writes }) => ({
      name,
      description,
      inputSchema: input as { type: 'object' },
      annotations: { readOnlyHint: !writes, destructiveHint: writes },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool)
      return failed(
        `There is no tool ${params.name}.`,
        'List the tools; writes need svc mcp --allow-writes.',
      );
    return called(tool, params.arguments ?? {});
  });
  const ended = new Promise<void>((done) => {
    process.stdin.once('end', done);
    process.on('SIGINT', () => done()).on('SIGTERM', () => done());
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}

async function called(tool: Tool, input: Record<string, unknown>) {
  const [fault] = Value.Errors(tool.input, input);
  if (fault)
    return failed(
      `${fault.instancePath || 'The input'} ${fault.message}.`,
      'Correct it as the schema of the tool says.',
    );
  try {
    const answer = await tool.run(input as never);
    return { content: [{ type: 'text' as const, text: JSON.stringify(answer) }] };
  } catch (error) {
    const failure = error instanceof SvcError ? failureOf(error, (said) => said) : error;
    if (failure instanceof Failure) return failed(failure.message, failure.remedy);
    // What cannot stand in a path or a header.
    if (error instanceof TypeError) return failed(`${error.message}.`, 'Correct the input of the tool.');
    throw error;
  }
}

function failed(message: string, remedy: string) {
  return { isError: true, content: [{ type: 'text' as const, text: `${message}\n${remedy}` }] };
}
