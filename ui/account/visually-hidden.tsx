import { foreignLanguage } from '../base/local-text.js';
import { truncate } from '../base/message.js';

/** Text for screen readers that names the row of a control. */
export const VisuallyHidden = ({ children: text }: { children: string }) => (
  <bdi class="quiet" lang={foreignLanguage(text)}>
    {truncate(text)}
  </bdi>
);
