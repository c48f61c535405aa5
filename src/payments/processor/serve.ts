// The HTTP server of the test processor, on loopback alone. Calls run one after another, each in one transaction, with
// their idempotency keys.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from '#base/node-http.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { readWhole } from '#base/unix-server.ts'
import type { State } from '#state/connect.ts'
import { parseForm } from './form.ts'
import { openObjects, ProcessorRefusal, type ProcessorAnswer } from './objects.ts'
import { runCall } from './routes.ts'

const HOST = '127.0.0.1'
const BODY_BYTES_MAX = 65_536
const HEADERS_TIMEOUT_MS = 5000
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}

type Deps = {
  readonly state: State
  readonly key: string
  readonly log: Logger
  /** Something may be there to tell. */
  readonly changed: () => void
}

type ProcessorRequest = {
  readonly method: string
  readonly path: string
  readonly text: string
  readonly key: string | undefined
}

export async function serveProcessor(
  port: number,
  deps: Deps,
): Promise<{ close(): Promise<void> }> {
  let last: Promise<unknown> = Promise.resolve()
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
    void readRequest(request, deps.key)
      .then((asked) => {
        const turn = last.then(() => runOnce(deps.state, `http://${HOST}:${port}`, asked))
        last = turn.catch(() => undefined)
        return turn
      })
      .catch((error: unknown) => refusal(error, deps.log))
      .then((made) => send(response, made))
      .then(deps.changed)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, resolve)
  })
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readRequest(request: IncomingMessage, key: string): Promise<ProcessorRequest> {
  const { pathname, search } = new URL(request.url ?? '/', 'http://processor')
  // The pages of the bank and of the processor are for the payer, who has no key.
  const isOfPayer = /^\/test\/(authenticate|checkout)\//.test(pathname)
  if (!isOfPayer && !isKey(request.headers.authorization, key))
    throw new ProcessorRefusal(401, 'api_key_invalid', 'Invalid API Key provided')
  const tooLarge = () => new ProcessorRefusal(413, 'body_too_large', 'The body is too large')
  const body = await readWhole(request, BODY_BYTES_MAX, tooLarge)
  const header = request.headers['idempotency-key']
  return {
    method: request.method ?? 'GET',
    path: pathname,
    text: request.method === 'GET' ? search.slice(1) : body.toString(),
    key: typeof header === 'string' && request.method === 'POST' ? header : undefined,
  }
}

function isKey(header: string | undefined, key: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(header ?? ''), hash(`Bearer ${key}`))
}

/** Answers a repeated call as the first one. */
async function runOnce(
  state: State,
  url: string,
  asked: ProcessorRequest,
): Promise<ProcessorAnswer> {
  const { method, path, text, key } = asked
  const fingerprint = createHash('sha256').update(`${path}\n${text}`).digest('hex')
  return await state.transaction(async (transaction) => {
    if (key !== undefined) {
      const { rows } = await transaction.query<ProcessorAnswer & { fingerprint: string }>(
        'select fingerprint, status, body from test_processor_answers where key = $1',
        [key],
      )
      const [known] = rows
      if (known !== undefined && known.fingerprint !== fingerprint)
        throw new ProcessorRefusal(
          400,
          'idempotency_error',
          'The key was used with other parameters',
        )
      if (known !== undefined) return known
    }
    const objects = await openObjects(transaction, url)
    const made = await runCall(method, path, {
      state: transaction,
      objects,
      form: parseForm(text),
    })
    if (key !== undefined)
      await transaction.query(
        'insert into test_processor_answers (key, fingerprint, status, body) values ($1, $2, $3, $4)',
        [key, fingerprint, made.status, JSON.stringify(made.body)],
      )
    return made
  })
}

function refusal(error: unknown, log: Logger): ProcessorAnswer {
  if (error instanceof ProcessorRefusal) {
    const { status, code, message } = error
    const type = status === 402 ? 'card_error' : 'invalid_request_error'
    return { status, body: { error: { type, code, message } } }
  }
  log.error('The test processor could not answer', { error: messageOf(error) })
  return { status: 500, body: { error: { type: 'api_error', message: 'It failed' } } }
}

function send(response: ServerResponse, { status, body, location }: ProcessorAnswer): void {
  const isPage = typeof body === 'string'
  response.writeHead(status, {
    'x-test-money': 'no funds move',
    ...(isPage ? PAGE_HEADERS : { 'content-type': 'application/json' }),
    ...(location === undefined ? {} : { location }),
  })
  response.end(isPage ? body : JSON.stringify(body))
}
