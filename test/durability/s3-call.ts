// One request of the S3 protocol over one connection, with the token as a bearer: what the harnesses
// need to know is which answers arrived whole.
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'

const CALL_MAX_MS = 60_000

export type S3Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  /** Undefined when the head has none. */
  readonly receipt: string | undefined
}

export type S3Request = {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  /** Path and query. */
  readonly path: string
  readonly body?: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Resolves when the whole answer is there; undefined when the connection was refused or broke off. */
export function s3Call(
  target: { readonly port: number; readonly token: string },
  { method, path, body = Buffer.alloc(0), headers = {} }: S3Request,
): Promise<S3Answer | undefined> {
  return new Promise((resolve) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: target.port,
        method,
        path,
        agent: false,
        signal: AbortSignal.timeout(CALL_MAX_MS),
        headers: {
          authorization: `Bearer ${target.token}`,
          ...(method === 'GET' || method === 'HEAD' ? {} : { 'content-length': body.length }),
          ...headers,
        },
      },
      (response) => {
        const receipt = response.headers['x-receipt-id']
        buffer(response).then(
          (bytes) =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: bytes,
              receipt: typeof receipt === 'string' ? receipt : undefined,
            }),
          () => resolve(undefined),
        )
      },
    )
    sent.once('error', () => resolve(undefined))
    sent.end(body)
  })
}
