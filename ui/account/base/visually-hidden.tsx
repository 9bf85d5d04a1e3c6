import { foreignLanguage } from '../../base/text/local-text.js';
import { truncate } from '../../base/text/message.js';

/** Text for screen readers that names the row of a control. */
export const VisuallyHidden = ({ children: text }: { children: string }) => (
  <bdi class="quiet" lang={foreignLanguage(text)}>
    {truncate(text)}
  </bdi>
);
