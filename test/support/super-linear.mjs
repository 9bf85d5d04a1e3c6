import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { parseSync } from '@swc/core';
import { getConsumedChars, getFirstConsumedChar, isPotentiallyEmpty } from 'regexp-ast-analysis';
import { analyse } from 'scslre';

/** The text of an argument of RegExp; `1` stands for what is not known before it runs. */
function textOf(node) {
  if (node?.type === 'StringLiteral') return node.value;
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ cooked }) => cooked).join('1');
  return node === undefined ? '' : '1';
}

export function expressionsOf(path, text) {
  const found = [];
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node !== 'object' || node === null) return undefined;
    if (node.type === 'RegExpLiteral') {
      found.push({ path, source: node.pattern, flags: node.flags });
    }
    if (
      (node.type === 'NewExpression' || node.type === 'CallExpression') &&
      node.callee.value === 'RegExp'
    ) {
      const [source, flags] = node.arguments.map(({ expression }) => textOf(expression));
      found.push({ path, source, flags: flags ?? '' });
    }
    return Object.values(node).forEach(visit);
  };
  visit(parseSync(text, { syntax: 'typescript', tsx: path.endsWith('x') }));
  return found;
}

const parser = new RegExpParser();

/**
 * Whether a match can begin in one place alone: at the beginning of the text, or where the last one
 * ended.
 */
function isAnchored(pattern, flags) {
  const begins = ({ elements }) => {
    const [first] = elements;
    return (
      (first?.type === 'Assertion' && first.kind === 'start') ||
      (first?.type === 'Group' && first.alternatives.every(begins))
    );
  };
  return flags.sticky || (!flags.multiline && pattern.alternatives.every(begins));
}

/** What stands behind a node and has to match, in its own alternative and in those around it. */
function isFollowed(node, flags) {
  for (let at = node; at.type !== 'Pattern'; at = at.parent) {
    if (at.parent.type !== 'Alternative') continue;
    const behind = at.parent.elements.slice(at.parent.elements.indexOf(at) + 1);
    if (behind.some((one) => one.type === 'Assertion' || !isPotentiallyEmpty(one, flags))) {
      return true;
    }
  }
  return false;
}

const charsOf = (node, flags) => getConsumedChars(node, flags).chars;

/** Whether all that stands before a node can be what characters of this set are. */
function isReached(node, set, flags) {
  for (let at = node; at.type !== 'Pattern'; at = at.parent) {
    if (at.parent.type !== 'Alternative') continue;
    if (
      !at.parent.elements
        .slice(0, at.parent.elements.indexOf(at))
        .every((one) => canBe(one, set, flags))
    ) {
      return false;
    }
  }
  return true;
}

/**
 * A repetition within which a match can begin again, and that can fail behind it: quadratic by its
 * beginnings.
 */
function restarts(pattern, flags) {
  if (isAnchored(pattern, flags)) return undefined;
  const first = getFirstConsumedChar(pattern.alternatives, 'ltr', flags).char;
  return repetitions(pattern).find(
    (one) =>
      isFollowed(one, flags) &&
      !charsOf(one.element, flags).isDisjointWith(first) &&
      isReached(one, charsOf(one.element, flags), flags),
  );
}

/** Whether characters of this set alone can be what a node matches. */
function canBe(node, set, flags) {
  if (node.type === 'Assertion') return true;
  if (node.type === 'Quantifier') {
    return isPotentiallyEmpty(node, flags) || canBe(node.element, set, flags);
  }
  if (node.alternatives) {
    return node.alternatives.some(({ elements }) =>
      elements.every((one) => canBe(one, set, flags)),
    );
  }
  return !charsOf(node, flags).isDisjointWith(set);
}

/**
 * Whether a sequence has a repetition that, with all before it, can be of this set, and that can
 * fail behind it.
 */
function repeats(elements, set, flags) {
  for (const one of elements) {
    if (
      one.type === 'Quantifier' &&
      one.max === Infinity &&
      canBe(one.element, set, flags) &&
      isFollowed(one, flags)
    ) {
      return true;
    }
    const inner = one.type === 'Quantifier' ? one.element : one;
    if (
      inner.type !== 'Assertion' &&
      inner.alternatives?.some((alternative) => repeats(alternative.elements, set, flags))
    ) {
      return true;
    }
    if (!canBe(one, set, flags)) return false;
  }
  return false;
}

/**
 * A repetition that can also be what another one behind it repeats, and all between them: quadratic
 * by its ends.
 */
function trades(pattern, flags) {
  return repetitions(pattern).find((one) => {
    const {
      parent: { type, elements },
      element,
    } = one;
    return (
      type === 'Alternative' &&
      repeats(elements.slice(elements.indexOf(one) + 1), charsOf(element, flags), flags)
    );
  });
}

/** A repetition whose alternatives can begin alike: exponential where they can also end alike. */
function alike(pattern, flags) {
  return repetitions(pattern).find(({ element }) => {
    const firsts = (element.alternatives ?? []).map(
      (one) => getFirstConsumedChar(one, 'ltr', flags).char,
    );
    return firsts.some((first, i) =>
      firsts.slice(i + 1).some((other) => !other.isDisjointWith(first)),
    );
  });
}

function repetitions(pattern) {
  const all = [];
  visitRegExpAST(pattern, {
    onQuantifierEnter: (one) => {
      if (one.max === Infinity) all.push(one);
    },
  });
  return all;
}

export function superLinear({ source, flags: given }) {
  const { pattern, flags } = parser.parseLiteral(
    `/${source.replaceAll(/(?<!\\)\//g, '\\/') || '(?:)'}/${given}`,
  );
  const [report] = analyse({ source, flags: given }).reports;
  if (report) {
    return report.exponential
      ? 'exponential'
      : `${report.type}: ${'quant' in report ? report.quant.raw : `${report.startQuant.raw} and ${report.endQuant.raw}`}`;
  }
  const restarted = restarts(pattern, flags);
  if (restarted) return `every beginning repeats ${restarted.raw}`;
  const ambiguous = alike(pattern, flags);
  if (ambiguous) return `alternatives of ${ambiguous.raw} begin alike`;
  const traded = trades(pattern, flags);
  return traded && `what stands behind ${traded.raw} can take its place`;
}
