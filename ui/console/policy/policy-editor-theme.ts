import { EditorView } from '@codemirror/view';

/**
 * The look of the editor, with the colours of the page. It is not in a style sheet of the page,
 * since the editor is in a shadow tree.
 */
export const policyEditorTheme = EditorView.theme({
  '&': {
    maxBlockSize: 'max(20rem, calc(100dvh - 17rem))',
    border: '1px solid var(--edge)',
    borderRadius: 'var(--round)',
    color: 'var(--ink)',
    backgroundColor: 'var(--card)',
    overflow: 'hidden',
  },
  '&.cm-focused': { outline: '.125rem solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': {
    overflow: 'auto',
    font: '.8125rem/1.6 ui-monospace, "SF Mono", Consolas, "Liberation Mono", monospace',
  },
  '.cm-content': { minBlockSize: '12rem', caretColor: 'var(--ink)' },
  '.cm-gutters': { border: '0', color: 'var(--soft)', backgroundColor: 'var(--ground)' },
  '.fault-line': {
    backgroundColor: 'var(--bad-soft)',
    boxShadow: 'inset .25rem 0 0 var(--bad)',
    textDecoration: 'underline wavy var(--bad) 1px',
  },
  '.token-remark': { color: 'var(--soft)', fontStyle: 'italic' },
  '.token-string, .token-note': { color: 'var(--warn)' },
  '.token-keyword': { fontWeight: '700', color: 'var(--accent)' },
  '.token-variable': { color: 'var(--accent)' },
  '.token-type': { fontWeight: '550' },
  '.cm-tooltip': {
    maxInlineSize: '28rem',
    border: '1px solid var(--edge)',
    color: 'var(--ink)',
    backgroundColor: 'var(--card)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '.25rem .625rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--accent-ink)',
    backgroundColor: 'var(--accent)',
  },
  '@media (forced-colors: active)': { '.fault-line': { outline: '1px solid' } },
});
