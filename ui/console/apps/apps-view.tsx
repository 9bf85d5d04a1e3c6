import { t } from '../../base/text/message.js';
import { Monogram } from '../../base/text/monogram.js';
import { AppForm } from './app-form.js';
import { AppList } from './app-list.js';
import { appTemplates, otherApp } from './app-templates.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { A } from '../base/parts.js';
import { pathTo } from '../base/route.js';

const TemplateList = () => (
  <Frame title="console.apps.add" part="apps">
    <p class="lead">{t('console.apps.choose')}</p>
    <ul class="tiles" aria-label={t('console.apps.choose')}>
      {[...appTemplates, otherApp].map(({ id, name }) => {
        const title = name || t('console.apps.other');
        return (
          <li class="app" key={id}>
            <Monogram name={title} />
            <h2>
              <A to={pathTo('apps', id, 'new')}>
                <bdi>{title}</bdi>
              </A>
            </h2>
          </li>
        );
      })}
    </ul>
  </Frame>
);

interface PartProps {
  kind: Kind;
  name: string;
  query: URLSearchParams;
}

/** The apps, the choice of a new one, or its form; `name` is that of a template, or `-`. */
export function AppsView({ kind, name, query }: PartProps) {
  if (!name) return <AppList kind={kind} query={query} />;
  const template = [...appTemplates, otherApp].find(({ id }) => id === name);
  return template ? <AppForm kind={kind} template={template} /> : <TemplateList />;
}
