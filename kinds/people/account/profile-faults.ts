import { keysOf } from '../../../registry/schema/typed-entries.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import type { Cause } from '../../../registry/status/status.js';
import { languageTagFault } from '../../signin/language-tag-fault.js';
import type { AccountObject } from './schema.js';

type Spec = AccountObject['spec'];

/** Names that ICU knows and the tz database does not. */
const onlyICU =
  /^(?:SystemV\/.*|ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST)$/;

function isTimeZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    const isOtherCase = timeZone !== name && timeZone.toLowerCase() === name.toLowerCase();
    return !isOtherCase && !onlyICU.test(name);
  } catch {
    return false;
  }
}

/** Returns whether a text is a year, or a day of the calendar. The year 0000 stands for none. */
function isDateOrYear(text: string): boolean {
  if (text.length === 4) return true;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const faultOf: { readonly [F in keyof Spec]?: (value: string) => string | undefined } = {
  locale: languageTagFault,
  timeZone: (value) =>
    isTimeZone(value) ? undefined : 'must be a time zone of the tz database such as Europe/Zurich',
  birthdate: (value) =>
    isDateOrYear(value) ? undefined : 'must be a date that exists, or a year such as 2000',
};

/**
 * Returns a cause for each value of a profile that has the right form and names nothing. A value
 * that the account has already stays, since the lists of names change.
 */
export const profileFaults = (next: Spec, old: Spec | undefined): Cause[] =>
  keysOf(faultOf).flatMap((field) => {
    const value = next[field];
    const fault =
      value === undefined || value === old?.[field] ? undefined : faultOf[field]!(value);
    return fault === undefined ? [] : [invalidValue(`spec.${field}`, fault)];
  });
