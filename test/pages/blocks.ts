import { readFileSync } from 'node:fs';

/** A fenced block of a page. */
export interface Block {
  language: string;
  /** What stands beside the language. */
  note: string;
  text: string;
  /** The heading of the second level that it stands under. */
  section: string;
  line: number;
}

export function blocksIn(page: string): Block[] {
  const blocks: Block[] = [];
  let section = '';
  let open: { block: Block; fence: string; indent: string } | undefined;
  for (const [index, line] of readFileSync(page, 'utf8').split('\n').entries()) {
    const [, indent = '', fence, language = '', note = ''] = /^( *)(`{3,})(\w*) ?(.*)$/.exec(line) ?? [];
    if (open && fence === open.fence) open = undefined;
    else if (open) open.block.text += `${line.slice(open.indent.length)}\n`;
    else if (fence !== undefined) {
      const block: Block = { language, note, text: '', section, line: index + 1 };
      blocks.push(block);
      open = { block, fence, indent };
    } else section = /^## (.+)$/.exec(line)?.[1] ?? section;
  }
  return blocks;
}
