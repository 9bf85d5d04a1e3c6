import express, { type Express } from 'express';
import { ApiRequest, ApiResponse } from './message.js';

/**
 * Creates an Express application whose prototypes are our classes. Otherwise Express sets the
 * prototypes of both objects on every request, and V8 loses their shapes.
 */
export function createApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  for (const [own, expressPrototype] of [
    [ApiRequest, express.request],
    [ApiResponse, express.response],
  ] as const) {
    for (const key of Reflect.ownKeys(expressPrototype)) {
      Object.defineProperty(
        own.prototype,
        key,
        Object.getOwnPropertyDescriptor(expressPrototype, key)!,
      );
    }
  }
  (app as { request: unknown }).request = ApiRequest.prototype;
  (app as { response: unknown }).response = ApiResponse.prototype;
  for (const prototype of [ApiRequest.prototype, ApiResponse.prototype]) {
    Object.defineProperty(prototype, 'app', { configurable: true, writable: true, value: app });
  }
  return app;
}
