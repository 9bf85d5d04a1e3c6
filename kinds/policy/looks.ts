import type { Asked } from './asked.js';
import type { CedarValue } from './facts.js';
import type { Slot } from './slots.js';

interface Table { readonly read: NonNullable<Slot['among']>['read']; readonly numbers: Map<string, number> }

/** What several slots say of a question, as one text: all that compare the same thing with different names cost one look, however many rules there are. */
export class Looks {
  readonly #tables: readonly Table[];
  readonly #others: readonly Slot[];

  constructor(slots: readonly Slot[]) {
    const tables = new Map<string, Table>();
    for (const { among } of slots) {
      if (!among) continue;
      const table = tables.get(among.what) ?? { read: among.read, numbers: new Map() };
      if (!table.numbers.has(among.name)) table.numbers.set(among.name, table.numbers.size);
      tables.set(among.what, table);
    }
    this.#tables = [...tables.values()];
    this.#others = slots.filter(({ among }) => !among);
  }

  /** Equal where every slot reads alike; throws where a fact is not what it should be. */
  key(asked: Asked): string {
    let key = '';
    for (const { read, numbers } of this.#tables) {
      const names = read(asked);
      if (names === undefined) key += '-';
      else for (const name of names) { const number = numbers.get(name); if (number !== undefined) key += `${number},` }
      key += ';';
    }
    for (const slot of this.#others) key += encoded(slot.read(asked));
    return key;
  }
}

/** JSON ends where it ends, so that no two lists of values read alike. */
const encoded = (value: CedarValue | undefined): string => (value === true ? '1' : value === false ? '0' : value === undefined ? '-' : `${JSON.stringify(value)},`);
