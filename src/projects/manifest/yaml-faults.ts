import type { YAMLParseError } from 'yaml';

/** What is wrong with the text, in words for whoever wrote it, and the offset where it shows. */
interface YamlFault {
  message: string;
  suggestion?: string;
  offset: number;
}

export const lineBreaksKept =
  'Send it as it is: curl --data-binary @svc.yaml keeps line breaks, -d cuts them';

/** Words the parser's error by its code and by what stands in its line. */
export function yamlFault(text: string, error: YAMLParseError): YamlFault {
  const offset = error.pos[0];
  const line = lineAt(text, offset);
  const worded = (message: string, suggestion: string, at = offset): YamlFault => ({
    message,
    suggestion,
    offset: at,
  });
  if (!/[\r\n]/.test(text.trim()) && error.code === 'BLOCK_AS_IMPLICIT_KEY')
    return worded('the whole text is one line', lineBreaksKept);
  const space = missingSpace(line.text);
  if (space) return worded(`there is no space after ${space.after}`, `Write ${space.meant}`, line.start);
  switch (error.code as string) {
    case 'BAD_ALIAS':
    case 'BAD_SCALAR_START':
      return unquoted(line, offset);
    case 'UNEXPECTED_TOKEN':
      return /^[*&]/.test(valueOf(line.text)) ? unquoted(line, offset) : unexpected(line, error);
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return colonOrIndent(text, line, offset);
    case 'MISSING_CHAR':
      return missing(line, error);
    case 'BAD_INDENT':
      return error.message.startsWith('Flow')
        ? worded('a [ or { before this line is not closed', 'Close it with ] or }, or put the text in quotes')
        : misaligned(line);
    case 'TAB_AS_INDENT':
      return worded('a tab indents the line', 'Indent with spaces');
    case 'MULTIPLE_DOCS':
      return worded(
        'a second document begins here',
        'A manifest is one document: take away this line of ---',
      );
    case 'BAD_DQ_ESCAPE':
      return worded(
        'the backslash begins no known escape',
        'Use single quotes, in which it is an ordinary character',
      );
    default:
      return asSaid(error);
  }
}

interface Line {
  text: string;
  start: number;
}

function lineAt(text: string, offset: number): Line {
  const start = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  const [line = ''] = text.slice(start).split(/\r\n|\r|\n/, 1);
  return { text: line, start };
}

/** What stands after the first `key: ` of the line. */
function valueOf(line: string): string {
  return /^[\s-]*[^\s:'"]+:\s+(.*?)\s*$/.exec(line)?.[1] ?? '';
}

/** `key:value` and `-key: value`, as they were meant. */
function missingSpace(line: string): { after: string; meant: string } | undefined {
  const [, dashed] = /^\s*-([A-Za-z_][^\s:]*:(?:\s.*)?)$/.exec(line) ?? [];
  if (dashed !== undefined) return { after: 'the dash', meant: `- ${dashed.trim()}` };
  const [, key, value] = /^[\s-]*([A-Za-z_]\w*):([^\s/].*)$/.exec(line) ?? [];
  return key === undefined ? undefined : { after: 'the colon', meant: `${key}: ${value?.trim()}` };
}

function inQuotes(value: string): string {
  return `Put the value in quotes: '${value.replaceAll("'", "''")}'`;
}

function unquoted({ text }: Line, offset: number): YamlFault {
  const value = valueOf(text);
  const message = `a value without quotes cannot begin with ${value.slice(0, 1)}`;
  return { message, suggestion: inQuotes(value), offset };
}

/** A colon within a value, or a line below that is indented as if it belonged to the value. */
function colonOrIndent(text: string, line: Line, offset: number): YamlFault {
  const value = valueOf(line.text);
  if (/:(\s|$)/.test(value))
    return {
      message: 'a value without quotes cannot hold a colon and a space',
      suggestion: inQuotes(value),
      offset,
    };
  const [skipped] =
    /^[^\r\n]*(?:(?:\r\n|\r|\n)[ \t]*(?:#[^\r\n]*)?(?=[\r\n]))*(?:\r\n|\r|\n)/.exec(text.slice(line.start)) ??
    [];
  if (skipped === undefined) return misaligned(line);
  return misaligned(lineAt(text, line.start + skipped.length));
}

function misaligned({ text, start }: Line): YamlFault {
  const spaces = text.length - text.trimStart().length;
  return {
    message: `the line is indented by ${spaces} ${spaces === 1 ? 'space' : 'spaces'} and does not align with those that it belongs to`,
    suggestion:
      'Begin it under the first letter of the other keys of its entry; a new entry begins with a dash and a space',
    offset: start,
  };
}

function missing(line: Line, error: YAMLParseError): YamlFault {
  const [offset] = error.pos;
  if (error.message.startsWith('Missing closing'))
    return {
      message: 'a quote that was opened before this place is not closed',
      suggestion: 'Close it in the line that opens it',
      offset,
    };
  if (error.message.startsWith('Sequence item')) return misaligned(line);
  if (error.message.startsWith('Implicit map keys'))
    return {
      message: 'a key must be followed by a colon and a space',
      suggestion: 'Write key: value',
      offset,
    };
  return asSaid(error);
}

function unexpected(line: Line, error: YAMLParseError): YamlFault {
  const [offset] = error.pos;
  if (/^["']/.test(valueOf(line.text)))
    return {
      message: 'something follows the closing quote',
      suggestion: 'Put the whole value in quotes',
      offset,
    };
  if (error.message.includes('block-seq-ind'))
    return {
      message: 'a list cannot begin in the line of its key',
      suggestion: 'Begin it in the next line',
      offset,
    };
  return asSaid(error);
}

function asSaid({ message, pos: [offset] }: YAMLParseError): YamlFault {
  return { message: `the YAML cannot be read from here on: ${message}`, offset };
}
