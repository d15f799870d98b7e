/** Reads CSV with commas and quoted cells, as bulk results are written; undefined for a text that ends within a cell. */
export function parseCsv(text: string): string[][] | undefined {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at);
    if (!cell) return undefined;
    row.push(cell.value);
    at = cell.end;
    if (text[at] === ',') {
      at += 1;
      if (at === text.length) row.push('');
      else continue;
    }
    rows.push(row);
    row = [];
    if (text.startsWith('\r\n', at)) at += 2;
    else if (text[at] === '\n') at += 1;
    else if (at < text.length) return undefined;
  }
  return rows;
}

interface Cell {
  value: string;
  end: number;
}

function quotedCell(text: string, at: number): Cell | undefined {
  let end = text.indexOf('"', at + 1);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  return end < 0 ? undefined : { value: text.slice(at + 1, end).replaceAll('""', '"'), end: end + 1 };
}

const plainEnd = /[,\r\n]|$/g;

function plainCell(text: string, at: number): Cell {
  plainEnd.lastIndex = at;
  const end = plainEnd.exec(text)?.index ?? text.length;
  return { value: text.slice(at, end), end };
}
