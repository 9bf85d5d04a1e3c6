import type { ApiError } from './api/api.js';
import { localText } from './text/local-text.js';

/** Returns the message of the rule that refused a request (403), in the language of the page. */
export const refusalText = ({ message, details }: ApiError): string =>
  localText(message.split('at the cluster scope: ').at(-1)!, details.messages);
