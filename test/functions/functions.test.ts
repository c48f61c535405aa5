// Functions as their owners use them: deployed from a file, called, rolled back, suspended, deleted.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { test } from 'node:test'
import type { HourlyEnergy } from '#contract/resources/hourly-energy.ts'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { BRIEF_FUNCTIONS } from '../settings.ts'
import { functionClient, testFiles, until } from './function-client.ts'

product(BRIEF_FUNCTIONS)
const { api, show, deploy, textAt, logsOf, pidOf, url } = functionClient(sharedErgon)
const fileOf = testFiles()

test('fn deploy bundles a file, says what it does, and prints an address that answers', async () => {
  fileOf('greet.ts', 'export const greet = (name: string): string => `hello ${name}`\n')
  const file = fileOf(
    'hello.ts',
    `import { greet } from './greet.ts'
export default {
  fetch(request: Request, env: Record<string, string>, ctx: { requestId: string }) {
    console.log('asked for', new URL(request.url).pathname)
    return new Response(greet(env['WHO'] ?? '') + ' ' + ctx.requestId, { headers: { 'x-own': '1' } })
  },
}
`,
  )
  const words = ['--route', '/greetings', '--memory', '96MB', '--env', 'WHO=world']
  const { stdout, stderr, code } = await sharedErgon().cli('fn', 'deploy', file, ...words)
  assert.equal(code, 0, stderr)
  assert.match(stderr, /create hello at \/greetings \(memory 96MB, variables WHO\)/)
  assert.equal(stdout.trim(), `${url()}/greetings`)
  const answer = await fetch(`${url()}/greetings/deep?x=1`)
  const id = answer.headers.get('x-request-id') ?? ''
  assert.equal(await answer.text(), `hello world ${id}`)
  assert.equal(answer.headers.get('x-own'), '1')
  assert.ok(Number(answer.headers.get('x-energy-joules')) > 0)
  assert.equal(answer.headers.get('x-energy-estimate'), 'share')
  const log = await until(
    () => logsOf('hello'),
    (text) => text.includes('asked for'),
  )
  assert.match(log, new RegExp(`info  ${id} asked for /greetings/deep`))
  assert.match(
    (await sharedErgon().cli('fn', 'list')).stdout,
    /^hello +deployed +node24 +96 MB +1 /m,
  )
  const shown = (await sharedErgon().cli('fn', 'show', 'hello')).stdout
  assert.match(shown, /^variables +WHO$/m)
  assert.match(shown, /\bhello\.ts(?!\.)/)
})

test('the name of the account in the host is the same address', async () => {
  const { port } = new URL(url())
  const host = `${sharedErgon().account.replace('_', '-')}.functions.localhost:${port}`
  const status = await new Promise((resolve, reject) => {
    request({ port, path: '/greetings', headers: { host } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .once('error', reject)
      .end()
  })
  assert.equal(status, 200)
})

test('a fault of syntax is told with its line before anything is deployed', async () => {
  const file = fileOf('bad.ts', 'const fine = 1\nlet b c\n')
  const { stderr, code } = await sharedErgon().cli('fn', 'deploy', file)
  assert.notEqual(code, 0)
  assert.match(stderr, /bad\.ts:2:7: Expected ";" but found "c"/)
  assert.equal((await api('GET', '/bad')).body.title, 'function_not_found')
})

test('requests that cannot be served are refused with the reason', async () => {
  const other = { name: 'other', file: 'index.mjs', source: 'export default 1' }
  const refused = async (more: object) => {
    const { status, body } = await api('POST', '', { ...other, ...more })
    return `${status} ${body.title}`
  }
  assert.equal(await refused({ runtime: 'python3.99' }), '422 runtime_unknown')
  assert.equal(await refused({ route: '/greetings' }), '409 route_taken')
  const words = await sharedErgon().cli(
    'fn',
    'deploy',
    fileOf('other.mjs', ''),
    '--runtime',
    'python3.99',
  )
  assert.match(words.stderr, /there are: node24/)
  // A plan that was refused is none.
  assert.doesNotMatch(words.stderr, /create other/)
  const rollback = await api('POST', '/hello/rollback', { version: 9 })
  assert.equal(rollback.body.title, 'function_version_not_found')
  const [status, body] = await textAt('/nothing-is-here')
  assert.equal(status, 404)
  assert.match(body, /route_not_found/)
})

test('a version that cannot be loaded never answers; the one before goes on', async () => {
  await deploy('steady', "export default () => new Response('one')")
  const failed = await deploy('steady', "export default () => new Response('two')\nlet b c")
  assert.equal(failed.live_version, 1)
  assert.match(failed.reason ?? '', /version 2 cannot be started: index\.mjs:2: SyntaxError/)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
  const empty = await deploy('steady', 'export const nothing = 1')
  assert.match(empty.reason ?? '', /it exports no handler/)
  await deploy('steady', 'export const nothing = 2', { route: '/moved' })
  assert.equal((await textAt('/moved'))[0], 404)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
  await deploy('steady', "export default () => new Response('four')", { route: '/steady' })
  assert.deepEqual(await textAt('/steady'), [200, 'four'])
  const back = await sharedErgon().cli('fn', 'rollback', 'steady', '--to', '1')
  assert.equal(back.code, 0, back.stderr)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
})

test('no request fails while a version follows another', async () => {
  const source = (word: string) => `
    export default async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return new Response('${word}')
    }`
  await deploy('rolling', source('one'))
  const answers: string[] = []
  const ending = new AbortController()
  const asking = Array.from({ length: 3 }, async () => {
    while (!ending.signal.aborted) answers.push((await textAt('/rolling')).join(' '))
  })
  await until(
    async () => answers.length,
    (count) => count > 3,
  )
  await deploy('rolling', source('two'))
  await until(
    async () => answers.at(-1),
    (answer) => answer === '200 two',
  )
  ending.abort()
  await Promise.all(asking)
  assert.deepEqual([...new Set(answers)], ['200 one', '200 two'])
})

test('requests of an old version end in their own time, beside the new one', async () => {
  const source = (word: string) => `
    export default async (request) => {
      if (new URL(request.url).pathname.endsWith('/slow'))
        await new Promise((resolve) => setTimeout(resolve, 4000))
      return new Response('${word}')
    }`
  await deploy('draining', source('one'))
  let isEnded = false
  const slow = textAt('/draining/slow').finally(() => (isEnded = true))
  await until(
    () => pidOf('draining'),
    (pid) => pid !== 0,
  )
  const oldPid = await pidOf('draining')
  await deploy('draining', source('two'))
  assert.deepEqual(await textAt('/draining'), [200, 'two'])
  assert.equal(isEnded, false)
  assert.deepEqual(await slow, [200, 'one'])
  const { id } = await show('draining')
  await until(
    () =>
      sharedErgon()
        .pidOf(`${id.replace('_', '-')}-1`)
        .catch(() => 0),
    (pid) => pid === 0,
  )
  assert.ok(oldPid > 0 && !existsSync(`/proc/${oldPid}`))
  const charged = await sharedErgon().sql(
    'select distinct resource from charges where operation = $1',
    ['function.standing'],
  )
  assert.ok(charged.every(({ resource }) => /^fn_[a-z0-9]+$/.test(String(resource))))
})

test('a suspended function says so, and answers again when it is resumed', async () => {
  assert.equal((await sharedErgon().cli('fn', 'suspend', 'rolling')).code, 0)
  await until(
    () => show('rolling'),
    ({ status }) => status === 'suspended',
  )
  const [status, body] = await textAt('/rolling')
  assert.equal(status, 503)
  assert.match(body, /function_suspended/)
  assert.equal((await sharedErgon().cli('fn', 'resume', 'rolling')).code, 0)
  assert.equal((await textAt('/rolling'))[0], 200)
})

test('fn deploy and fn rollback say that they resume a suspended function', async () => {
  const file = fileOf('paused.mjs', "export default () => new Response('paused')")
  const cli = async (...words: string[]) => {
    const { code, stderr } = await sharedErgon().cli('fn', ...words)
    assert.equal(code, 0, stderr)
    return stderr
  }
  const suspend = async () => {
    await cli('suspend', 'paused')
    await until(
      () => show('paused'),
      ({ status }) => status === 'suspended',
    )
  }
  assert.doesNotMatch(await cli('deploy', file), /resumes/)
  for (const words of [
    ['deploy', file],
    ['rollback', 'paused'],
  ]) {
    await suspend()
    assert.match(await cli(...words), /^paused is suspended: this resumes it$/m)
    assert.deepEqual(await textAt('/paused'), [200, 'paused'])
  }
})

test('a function whose wanted version failed is resumed with the one that answers', async () => {
  await deploy('steady', 'export const nothing = 3')
  assert.equal((await sharedErgon().cli('fn', 'suspend', 'steady')).code, 0)
  await until(
    () => show('steady'),
    ({ status }) => status === 'suspended',
  )
  const { code, stderr } = await sharedErgon().cli('fn', 'resume', 'steady')
  assert.equal(code, 0, stderr)
  assert.deepEqual(await textAt('/steady'), [200, 'one'])
})

test('fn energy sums what a function was charged, with its carbon and cost', async () => {
  const source = `export default () => {
    for (const lastMs = Date.now() + 1000; Date.now() < lastMs;);
    return new Response('measured')
  }`
  const { id } = await deploy('measured', source)
  assert.equal((await textAt('/measured'))[0], 200)
  // Each change of its state is charged, where it is worth a charge.
  await api('PATCH', '/measured', { suspended: true })
  const both = async () => {
    const { stdout } = await sharedErgon().cli(
      'fn',
      'energy',
      'measured',
      '--since',
      '1h',
      '--json',
    )
    const [charged] = await sharedErgon().sql<{ nj: string | null; pusd: string | null }>(
      'select sum(energy_nj)::text as nj, sum(charge_pusd)::text as pusd from charges where resource = $1',
      [id],
    )
    return { shown: JSON.parse(stdout) as HourlyEnergy, charged }
  }
  const { shown, charged } = await until(both, (seen) => seen.shown.energy_nj === seen.charged?.nj)
  assert.equal(shown.charge_pusd, charged?.pusd)
  assert.equal(shown.object, 'function.energy')
  assert.ok(shown.carbon_mg > 0 && shown.data.length > 0)
  const { stdout } = await sharedErgon().cli('fn', 'energy', 'measured')
  assert.match(
    stdout,
    /^FROM +JOULES +CARBON mg +DOLLARS\n(\S+Z +.*\n)+all +[\d.]+ +[\d.]+ +[\d.]+$/m,
  )
  assert.equal((await api('GET', '/measured/energy?since=1y')).body.title, 'invalid_request')
  assert.equal((await api('GET', '/absent/energy')).body.title, 'function_not_found')
})

test('a deleted function answers no more, and its address is free', async () => {
  assert.notEqual((await sharedErgon().cli('fn', 'delete', 'hello')).code, 0)
  assert.equal((await sharedErgon().cli('fn', 'delete', 'hello', '--force')).code, 0)
  await until(
    () => textAt('/greetings'),
    ([status]) => status === 404,
  )
  await deploy('second', "export default () => new Response('second')", { route: '/greetings' })
  assert.deepEqual(await textAt('/greetings'), [200, 'second'])
})

test('the books agree, and the log of acts has no variable', async () => {
  const acts = await sharedErgon().sql(
    "select details::text from audit_entries where action = 'function.deploy'",
  )
  assert.ok(acts.some(({ details }) => String(details).includes('WHO')))
  assert.ok(!acts.some(({ details }) => String(details).includes('world')))
  assert.deepEqual(await bookFaults(sharedErgon()), [])
})
