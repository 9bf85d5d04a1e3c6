import type { ComponentChildren } from 'preact';
import { t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { isObject, type JsonObject } from '../base/merge.js';
import { useDocument } from '../base/console-context.js';
import { propertyOf, resolve, type Schema } from '../base/schema.js';
import { English } from '../base/parts.js';

const None = () => <span class="hint">{t('console.none')}</span>;

function List({ schema, items }: { schema: Schema; items: readonly unknown[] }) {
  const document = useDocument();
  const item = resolve(document, schema.items ?? {});
  return (
    <ul class="plain-list">
      {items.map((element) => (
        <li>
          <Value schema={item} value={element} />
        </li>
      ))}
    </ul>
  );
}

/** A value of the API, as its schema describes it. */
export function Value({ schema, value }: { schema: Schema; value: unknown }): ComponentChildren {
  if (Array.isArray(value)) {
    return value.length ? <List schema={schema} items={value as unknown[]} /> : <None />;
  }
  if (isObject(value)) {
    return Object.keys(value).length ? <Fields schema={schema} value={value} /> : <None />;
  }
  if (value === undefined || value === null || value === '') return <None />;
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  const text = String(value);
  if (schema.format === 'date-time') return <Timestamp of={text} />;
  if (text.includes('\n')) {
    return (
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
      <pre tabIndex={0} dir="ltr">
        {text}
      </pre>
    );
  }
  return <bdi>{text}</bdi>;
}

/** The fields of an object, with their descriptions. */
export function Fields({ schema, value }: { schema: Schema; value: JsonObject }) {
  const document = useDocument();
  return (
    <dl class="values">
      {Object.entries(value).map(([name, item]) => {
        const property = propertyOf(document, schema, name);
        return (
          <div key={name} class={isObject(item) || Array.isArray(item) ? 'deep' : undefined}>
            <dt>
              <span title={property.description}>
                <English>{name}</English>
              </span>
            </dt>
            <dd>
              <Value schema={property} value={item} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
