import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Annotation, EditorState, StateEffect, StateField, type Range } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
  type DecorationSet,
  type ViewUpdate,
} from '@codemirror/view';
import { completionsAt } from './policy-completion.js';
import { policyEditorTheme } from './policy-editor-theme.js';
import type { TextPosition } from './policy-faults.js';

/** Comments, strings, annotations, keywords, variables and types of Cedar, each a group. */
const tokens =
  /(?<remark>\/\/.*)|(?<string>"(?:[^"\\]|\\.)*"?)|(?<note>@\w+)|\b(?<keyword>permit|forbid|when|unless|is|in|has|like|if|then|else|true|false)\b|\b(?<variable>principal|action|resource|context)\b|\b(?<type>[A-Z]\w*)/g;

const marks = new Map<string, Decoration>();

/** Returns the mark of a token, by the name of its group. */
function markOf({ groups = {} }: RegExpExecArray): Decoration {
  const name = Object.keys(groups).find((candidate) => groups[candidate] !== undefined)!;
  const known = marks.get(name) ?? Decoration.mark({ class: `token-${name}` });
  marks.set(name, known);
  return known;
}

const decorator = new MatchDecorator({ regexp: tokens, decoration: markOf });

/** Colours the syntax of the lines that are shown. */
const syntaxColours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorator.createDeco(view);
    }
    update(update: ViewUpdate): void {
      this.decorations = decorator.updateDeco(update, this.decorations);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

/** Marks a change that the page made, which it must not hear of again. */
const isReplacement = Annotation.define<boolean>();

const setFaults = StateEffect.define<readonly TextPosition[]>();
const faultLine = Decoration.line({ class: 'fault-line' });

function faultMarks({ doc }: EditorState, faults: readonly TextPosition[]): DecorationSet {
  const numbers = [...new Set(faults.map(({ line }) => Math.min(line, doc.lines)))];
  const ranges: Range<Decoration>[] = numbers.map((number) =>
    faultLine.range(doc.line(number).from),
  );
  return Decoration.set(ranges, true);
}

/** The lines with faults, until the next answer about them. */
const faultLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(known, { state, changes, effects }) {
    const newest = effects.findLast((effect) => effect.is(setFaults));
    return newest ? faultMarks(state, newest.value as readonly TextPosition[]) : known.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function complete({ state, pos, explicit }: CompletionContext) {
  const { from, text } = state.doc.lineAt(pos);
  const found = completionsAt(text.slice(0, pos - from), !explicit);
  return found ? { ...found, from: from + found.from, validFor: /^[\w/*-]*$/ } : null;
}

/**
 * Replaces a selection. Chromium itself would keep its look in a style attribute, which the content
 * security policy blocks.
 */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { state } = view;
    if (inputType !== 'insertText' || data === null || state.selection.main.empty) return false;
    if (!state.readOnly) {
      view.dispatch(state.replaceSelection(data), {
        userEvent: 'input.type',
        scrollIntoView: true,
      });
    }
    return true;
  },
});

/** The editor of a policy. */
export interface PolicyEditor {
  /** Replaces the text, if it is another. */
  setText: (text: string) => void;
  setFaults: (faults: readonly TextPosition[]) => void;
  /** Moves the cursor and the focus to a position. */
  goTo: (position: TextPosition) => void;
  focus: () => void;
  destroy: () => void;
}

/** Scrolls an offset to a third of the height. CodeMirror's own way would scroll the page, too. */
function scrollToThird(view: EditorView, offset: number): void {
  const { scrollDOM } = view;
  const { top, height } = scrollDOM.getBoundingClientRect();
  scrollDOM.scrollTop += (view.coordsAtPos(offset)?.top ?? top) - top - height / 3;
}

interface Options {
  readonly text: string;
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly onText: (text: string) => void;
  /** Called with the line of the cursor, counted from 1, when it moves. */
  readonly onLine: (line: number) => void;
}

/**
 * Opens an editor in the shadow tree of an element. Tab leaves it. In a shadow tree, CodeMirror adds
 * its styles in a way that the content security policy permits (docs/design/ui.md#page-headers).
 */
export function openPolicyEditor(parent: HTMLElement, options: Options): PolicyEditor {
  const { text, isReadOnly, onText, onLine } = options;
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        lineNumbers(),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        autocompletion({ override: [complete], icons: false }),
        EditorState.languageData.of(() => [{ commentTokens: { line: '//' } }]),
        EditorState.readOnly.of(isReadOnly),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of(({ state }) => ({
          'aria-label': options.label,
          'aria-invalid': String(state.field(faultLines).size > 0),
          'aria-readonly': String(isReadOnly),
          tabindex: '0',
          spellcheck: 'false',
          translate: 'no',
          lang: 'en',
        })),
        policyEditorTheme,
        replaceSelection,
        syntaxColours,
        faultLines,
        EditorView.updateListener.of(({ docChanged, selectionSet, state, transactions }) => {
          if (selectionSet) onLine(state.doc.lineAt(state.selection.main.head).number);
          const isTyped = !transactions.some((change) => change.annotation(isReplacement));
          if (docChanged && isTyped) onText(state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText(next) {
      const { doc } = view.state;
      if (doc.toString() === next) return;
      view.dispatch({
        changes: { from: 0, to: doc.length, insert: next },
        annotations: isReplacement.of(true),
      });
    },
    setFaults: (faults) => view.dispatch({ effects: setFaults.of(faults) }),
    goTo({ line, column }) {
      const { doc } = view.state;
      const { from, length } = doc.line(Math.min(line, doc.lines));
      const anchor = from + Math.min(column - 1, length);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
      view.focus();
      requestAnimationFrame(() => scrollToThird(view, anchor));
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
