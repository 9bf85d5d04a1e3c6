import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Kind } from './kind.js';
import type { OpenAPI } from './schema.js';

/** What all views of the console share. */
export interface ConsoleContext {
  /** The name of the signed-in account. */
  readonly account: string;
  readonly person: { readonly name: string; readonly address: string };
  /** All kinds of the API. */
  readonly kinds: readonly Kind[];
  /** The kinds that the caller may list. */
  readonly listed: readonly Kind[];
}

/** The context of the signed-in account. */
export const CurrentConsole = createContext<ConsoleContext | undefined>(undefined);

/** Returns the context; only below `CurrentConsole`. */
export const useConsole = (): ConsoleContext => useContext(CurrentConsole)!;

/** The OpenAPI document, below the views that show any kind. */
export const CurrentDocument = createContext<OpenAPI | undefined>(undefined);

/** Returns the OpenAPI document; only below `CurrentDocument`. */
export const useDocument = (): OpenAPI => useContext(CurrentDocument)!;
