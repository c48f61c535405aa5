// Runtimes of functions as the code in them knows them: events of Lambda, errors at the places of the author, ends.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findRuntimes } from '#functions/runtimes.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { functionClient, until } from './function-client.ts'

product(PLAIN)
const { api, deploy, textAt, logsOf } = functionClient(sharedErgon)

const PYTHON = [...findRuntimes().keys()].find((name) => name.startsWith('python'))
const NO_PYTHON = PYTHON === undefined ? 'no Python is installed' : false

/** The same code in each language. */
type Sources = { readonly node: string; readonly python: string }
/** One test for each runtime. */
function eachRuntime(
  subject: string,
  sources: Sources,
  run: (put: (name: string, more?: object) => Promise<void>, prefix: string) => Promise<void>,
): void {
  const add = (prefix: string, file: string, source: string, skip: string | false) =>
    test(`${prefix}: ${subject}`, { skip }, async () =>
      run(async (name, more) => {
        const { reason } = await deploy(`${prefix}-${name}`, source, { file, ...more })
        assert.equal(reason, null)
      }, prefix),
    )
  add('node', 'index.mjs', sources.node, false)
  add('python', 'index.py', sources.python, NO_PYTHON)
}

let folder: string
before(() => (folder = mkdtempSync(join(tmpdir(), 'ergon-runtimes-'))))
after(() => rmSync(folder, { recursive: true, force: true }))

const EVENTS: Sources = {
  node: 'export const handler = async (event, context) => ({ event, context })',
  python: `def handler(event, context):
    return {"event": event, "context": {
        "functionName": context.function_name, "functionVersion": context.function_version,
        "memoryLimitInMB": context.memory_limit_in_mb, "awsRequestId": context.aws_request_id}}`,
}

eachRuntime('a Lambda handler gets events of payload format 2.0', EVENTS, async (put, prefix) => {
  await put('events')
  const [status, text] = await textAt(`/${prefix}-events/a%20b?x=1&x=2&y=%C3%A4`, {
    method: 'POST',
    headers: { cookie: 'one=1; two=2', 'x-twice': 'a, b', 'user-agent': 'test' },
    body: 'text',
  })
  assert.equal(status, 200)
  const { event, context } = JSON.parse(text) as Record<
    'event' | 'context',
    Record<string, unknown>
  >
  const { headers, requestContext, ...rest } = event
  assert.deepEqual(rest, {
    version: '2.0',
    routeKey: '$default',
    rawPath: `/${prefix}-events/a%20b`,
    rawQueryString: 'x=1&x=2&y=%C3%A4',
    cookies: ['one=1', 'two=2'],
    queryStringParameters: { x: '1,2', y: 'ä' },
    body: 'text',
    isBase64Encoded: false,
  })
  const sent = headers as Record<string, string>
  assert.deepEqual([sent['x-twice'], sent['cookie']], ['a, b', undefined])
  const { http, time, timeEpoch, requestId } = requestContext as Record<string, unknown>
  assert.deepEqual(http, {
    method: 'POST',
    path: `/${prefix}-events/a%20b`,
    protocol: 'HTTP/1.1',
    sourceIp: '127.0.0.1',
    userAgent: 'test',
  })
  assert.match(String(time), /^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/)
  assert.ok(Math.abs(Number(timeEpoch) - Date.now()) < 60_000)
  assert.deepEqual(
    [context['functionName'], context['functionVersion'], context['memoryLimitInMB']],
    [`${prefix}-events`, '1', '128'],
  )
  assert.equal(context['awsRequestId'], requestId)
})

const BYTES: Sources = {
  node: `export const handler = async ({ body, isBase64Encoded }) => ({
    statusCode: 200, isBase64Encoded, body, cookies: ['a=1', 'b=2'],
    headers: { 'content-type': 'image/png', 'x-encoded': isBase64Encoded },
  })`,
  python: `def handler(event, context):
    return {"statusCode": 200, "isBase64Encoded": event["isBase64Encoded"], "body": event["body"],
            "cookies": ["a=1", "b=2"],
            "headers": {"content-type": "image/png", "x-encoded": event["isBase64Encoded"]}}`,
}

eachRuntime(
  'bytes travel as base64, cookies are headers of their own',
  BYTES,
  async (put, prefix) => {
    await put('bytes')
    const sent = Buffer.from([0, 255, 128, 10])
    const answer = await fetch(`${String(sharedErgon().ready['functions_url'])}/${prefix}-bytes`, {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: sent,
    })
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), sent)
    assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2'])
    assert.equal(answer.headers.get('x-encoded'), 'true')
    assert.match(answer.headers.get('x-energy-joules') ?? '', /^\d/)
  },
)

const RESULTS: Sources = {
  node: `const results = { text: 'plain', object: { a: 1 }, nothing: undefined, empty: { statusCode: 204 } }
    export const handler = async ({ rawPath }) => results[rawPath.split('/').at(-1)]`,
  python: `results = {"text": "plain", "object": {"a": 1}, "nothing": None, "empty": {"statusCode": 204}}
def handler(event, context):
    return results[event["rawPath"].split("/")[-1]]`,
}

eachRuntime('results without a status are bodies', RESULTS, async (put, prefix) => {
  await put('results')
  assert.deepEqual(await textAt(`/${prefix}-results/text`), [200, 'plain'])
  assert.deepEqual(await textAt(`/${prefix}-results/object`), [200, '{"a":1}'])
  assert.deepEqual(await textAt(`/${prefix}-results/nothing`), [200, 'null'])
  assert.deepEqual(await textAt(`/${prefix}-results/empty`), [204, ''])
})

test('errors name file and line of the author, and nothing of the runtime', async () => {
  writeFileSync(
    join(folder, 'part.ts'),
    '// One line before.\nexport const fail = (): never => {\n  throw new TypeError("of the part")\n}\n',
  )
  const path = join(folder, 'whole.ts')
  writeFileSync(path, "import { fail } from './part.ts'\n\nexport default () => fail()\n")
  const { code, stderr } = await sharedErgon().cli('fn', 'deploy', path)
  assert.equal(code, 0, stderr)
  assert.equal((await textAt('/whole'))[0], 502)
  const log = await until(
    () => logsOf('whole'),
    (text) => text.includes('TypeError'),
  )
  assert.match(log, /TypeError: of the part\n.*at fail \(part\.ts:3:9\)/)
  assert.match(log, /whole\.ts:3:\d+/)
  assert.doesNotMatch(log, /node24|node:internal|\/tmp\//)
  writeFileSync(
    path,
    "import { fail } from './part.ts'\nconst fine: number = 1\nfail()\nexport default fine\n",
  )
  const failed = await sharedErgon().cli('fn', 'deploy', path)
  assert.match(
    failed.stderr,
    /Could not start version 2 of whole: part\.ts:3: TypeError: of the part/,
  )
})

const ENDS: Sources = {
  node: `export const handler = async ({ rawPath }) => {
    if (rawPath.endsWith('/exit')) process.exit(7)
    if (rawPath.endsWith('/abort')) process.abort()
    const kept = []
    for (;;) kept.push(Buffer.alloc(8_000_000, 1))
  }`,
  python: `import os, sys
def handler(event, context):
    if event["rawPath"].endswith("/exit"): sys.exit(7)
    if event["rawPath"].endswith("/abort"): os.abort()
    kept = []
    while True: kept.append(b"1" * 8_000_000)`,
}

eachRuntime('the end of a process is in the log, with its cause', ENDS, async (put, prefix) => {
  await put('ends', { memory: '96MB' })
  const ended = async (path: string, words: RegExp) => {
    assert.equal((await textAt(`/${prefix}-ends${path}`, { method: 'POST' }))[0], 502)
    await until(
      () => logsOf(`${prefix}-ends`),
      (text) => words.test(text),
    )
  }
  await ended('/exit', /error - +The process ended: exit code 7/)
  await ended('/abort', /The process ended: SIG(ABRT|TRAP|ILL)/)
  if (!/memory limit none/.test(sharedErgon().stderr()))
    await ended('/memory', /The process ended: it needed more than its memory/)
})

test(
  'python: what is printed and thrown is in the log with its request and line',
  { skip: NO_PYTHON },
  async () => {
    const path = join(folder, 'report.py')
    writeFileSync(
      path,
      'import logging\n\ndef fail():\n    raise ValueError("of mine")\n\ndef handler(event, context):\n' +
        '    print("one", 2)\n    logging.warning("careful")\n    fail()\n',
    )
    const { code, stderr } = await sharedErgon().cli('fn', 'deploy', path)
    assert.equal(code, 0, stderr)
    assert.match(stderr, new RegExp(`answers \\(${PYTHON},`))
    assert.equal((await textAt('/report'))[0], 502)
    const log = await until(
      () => logsOf('report'),
      (text) => text.includes('ValueError'),
    )
    assert.match(log, /info +req_\w+ +one 2\n/)
    assert.match(log, /warn +req_\w+ +careful\n/)
    assert.match(log, /Traceback .*\n.*File "report\.py", line 9, in handler\n/)
    assert.match(log, /File "report\.py", line 4, in fail\n +raise ValueError/)
    assert.doesNotMatch(log, /runtime|asyncio|concurrent/)
    for (const [text, words] of [
      ['def handler(:\n', /report\.py:1: SyntaxError: /],
      ['\nimport requests\n', /report\.py:2: ModuleNotFoundError: No module named 'requests'/],
      ['fine = 1\n', /it has no handler/],
    ] as const) {
      writeFileSync(path, text)
      const failed = await sharedErgon().cli('fn', 'deploy', path)
      assert.match(failed.stderr, words)
    }
    assert.equal((await textAt('/report'))[0], 502)
  },
)

test(
  'python: an ASGI application streams, and sees its caller leave',
  { skip: NO_PYTHON },
  async () => {
    const source = `import asyncio
async def app(scope, receive, send):
    if scope["path"].endswith("/wait"):
        await receive()
        print((await receive())["type"])
        return
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 201, "headers": [(b"x-query", scope["query_string"])]})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await asyncio.sleep(0.2)
    await send({"type": "http.response.body", "body": b" end"})`
    assert.equal((await deploy('asgi', source, { file: 'asgi.py' })).concurrency, 20)
    const url = `${String(sharedErgon().ready['functions_url'])}/asgi`
    const answer = await fetch(`${url}?a=1`, { method: 'POST', body: 'begin' })
    assert.deepEqual([answer.status, answer.headers.get('x-query')], [201, 'a=1'])
    const chunks: string[] = []
    for await (const chunk of answer.body ?? []) chunks.push(Buffer.from(chunk).toString())
    assert.deepEqual(chunks, ['begin', ' end'])
    await assert.rejects(fetch(`${url}/wait`, { signal: AbortSignal.timeout(300) }))
    await until(
      () => logsOf('asgi'),
      (text) => text.includes('http.disconnect'),
    )
  },
)

test(
  'python: one request at once, and a handler that never returns ends its process',
  { skip: NO_PYTHON },
  async () => {
    const source = `import time
at_once = 0
def handler(event, context):
    global at_once
    if event["rawPath"].endswith("/loop"):
        while True: pass
    at_once += 1
    most = at_once
    time.sleep(0.1)
    at_once -= 1
    return str(most)`
    const made = await deploy('threads', source, { file: 'threads.py', timeout_s: 1 })
    assert.equal(made.concurrency, 1)
    const texts = await Promise.all([1, 2, 3].map(() => textAt('/threads')))
    assert.deepEqual(texts, Array(3).fill([200, '1']))
    assert.equal((await textAt('/threads/loop', { method: 'POST' }))[0], 504)
    await until(
      () => logsOf('threads'),
      (text) => /The handler did not return in time[^]*The process ended: exit code 1/.test(text),
    )
    assert.deepEqual(await textAt('/threads'), [200, '1'])
  },
)

test(
  'a runtime is chosen by name or by the file, and others are refused',
  { skip: NO_PYTHON },
  async () => {
    const python = 'def handler(event, context): return 1'
    const named = PYTHON?.replace('.', '')
    assert.equal((await deploy('chosen', python, { file: 'a.py', runtime: named })).runtime, PYTHON)
    const other = await deploy('chosen', "export default () => new Response('1')")
    assert.equal(other.runtime, 'node24')
    const wrong = await api('POST', '', {
      name: 'chosen',
      file: 'a.py',
      source: python,
      runtime: 'node24',
    })
    assert.deepEqual([wrong.status, wrong.body.title], [400, 'invalid_request'])
  },
)
