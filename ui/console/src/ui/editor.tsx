import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef, type ReactNode } from 'react';

/** A fault or a doubt, where it stands: line and column count from 1. */
export interface Mark {
  line: number;
  column: number;
  message: string;
  severity: 'error' | 'warning';
}

const look = EditorView.theme({
  '&': { color: 'var(--svc-text)', backgroundColor: 'var(--svc-bg)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--svc-text)', padding: '10px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--svc-text)' },
  '.cm-gutters': {
    color: 'var(--svc-text-soft)',
    backgroundColor: 'var(--svc-bg-soft)',
    borderRight: '1px solid var(--svc-line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--ring)' },
  '.cm-tooltip': {
    color: 'var(--svc-text)',
    backgroundColor: 'var(--svc-bg)',
    border: '1px solid var(--svc-line)',
    borderRadius: '7px',
  },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--svc-good-bg)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--svc-bad-bg)' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': { background: 'none', fontWeight: '600' },
  '.cm-deletedChunk .cm-deletedText': { background: 'none', fontWeight: '600' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--svc-accent)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--svc-text-soft)' },
  { tag: [tags.bool, tags.number, tags.null], color: 'var(--svc-warning)' },
]);

/**
 * Text typed over a selection. The browser would give it the colour of what it replaces as a `style` of its own, which the policy of the
 * page refuses and reports.
 */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const isTyped = event.inputType === 'insertText' && event.data !== null && !event.isComposing;
    if (!isTyped || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

const shown: Extension = [lineNumbers(), yaml(), syntaxHighlighting(colours), look];

/**
 * A shadow root: there CodeMirror keeps its styles in constructed sheets, which the policy of the page allows, in place of a `style` element,
 * which it does not.
 */
function useView(make: (root: ShadowRoot) => EditorView, key: string) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  useEffect(() => {
    if (!host.current) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const made = make(root);
    view.current = made;
    return () => {
      made.destroy();
      view.current = null;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [key]);
  return { host, view };
}

/** Text to be edited, with marks at their lines. `first` is what it begins with. */
export function Editor(props: {
  label: string;
  first: string;
  marks: readonly Mark[];
  onChange: (text: string) => void;
}): ReactNode {
  const { label, first, marks, onChange } = props;
  const onText = useRef(onChange);
  onText.current = onChange;
  const { host, view } = useView(
    (root) =>
      new EditorView({
        parent: root,
        root,
        state: EditorState.create({
          doc: first,
          extensions: [
            shown,
            history(),
            drawSelection(),
            highlightActiveLine(),
            typedOver,
            lintGutter(),
            // No Tab: it leads out of the editor, as everywhere on the page.
            keymap.of([...lintKeymap, ...defaultKeymap, ...historyKeymap]),
            EditorView.contentAttributes.of({ 'aria-label': label }),
            EditorView.updateListener.of(({ docChanged, state }) => {
              if (docChanged) onText.current(state.doc.toString());
            }),
          ],
        }),
      }),
    first,
  );
  useEffect(() => {
    const { current } = view;
    current?.dispatch(setDiagnostics(current.state, placed(current.state, marks)));
  }, [marks, view]);
  return <div className="editor" ref={host} />;
}

function placed(state: EditorState, marks: readonly Mark[]): Diagnostic[] {
  return marks.map(({ line, column, message, severity }) => {
    const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
    const at = Math.min(from + Math.max(column - 1, 0), to);
    return { from: at, to: Math.max(at, to), message, severity };
  });
}

/** What differs between two texts, the later one with what was taken away between its lines. */
export function Diff({ label, before, after }: { label: string; before: string; after: string }): ReactNode {
  const { host } = useView(
    (root) =>
      new EditorView({
        parent: root,
        root,
        state: EditorState.create({
          doc: after,
          extensions: [
            shown,
            EditorState.readOnly.of(true),
            EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
            unifiedMergeView({ original: before, mergeControls: false, gutter: true, collapseUnchanged: {} }),
          ],
        }),
      }),
    `${before}\u0000${after}`,
  );
  return <div className="editor" ref={host} />;
}
