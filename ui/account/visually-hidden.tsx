import type { ComponentChildren } from 'preact';

/** What a control is about, for those who do not see the row it stands in. */
export const VisuallyHidden = ({ children }: { children: ComponentChildren }) => (
  <bdi class="quiet">{children}</bdi>
);
