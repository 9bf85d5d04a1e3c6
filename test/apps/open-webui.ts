import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Place } from './place.js';

/** Starts Open WebUI with the settings of its template, without models, which it would fetch. */
export async function openWebUI({ folder, port }: Place): Promise<Command> {
  const settings = readFileSync(join(folder, 'settings'), 'utf8');
  const environment = {
    ...Object.fromEntries(settings.split('\n').map((line) => line.split(/=(.*)/s))),
    DATA_DIR: join(folder, 'data'),
    OFFLINE_MODE: 'true',
    BYPASS_EMBEDDING_AND_RETRIEVAL: 'true',
    ENABLE_OLLAMA_API: 'false',
    ENABLE_OPENAI_API: 'false',
  };
  const args = ['serve', '--host', '127.0.0.1', '--port', String(port)];
  return { program: 'open-webui', args, environment, ready: '/health' };
}
