// Deployments on a state of their own, without anything that runs them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { newEncryptionKey } from '#base/encryption.ts'
import { FUNCTION_VERSIONS_MAX, FUNCTIONS_MAX } from '#contract/functions/function-limits.ts'
import type {
  FunctionChange,
  FunctionReply,
  FunctionRequest,
} from '#contract/functions/functions.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import { createResourceChange, createResourceDeploy } from '#http/resource-operations.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { readRoutes } from '#ingress/follow-routes.ts'
import { FUNCTIONS_OF } from '#functions/gateway.ts'
import { forgetRuns } from '#functions/tasks.ts'
import { SHOWN_FUNCTIONS } from '#functions/find-function.ts'
import { deployFunction } from './function-deploy.ts'
import { createFunctionLogs } from './function-logs.ts'
import { rollBackFunction } from './function-rollback.ts'
import { updateFunction } from './function-update.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const settings: FunctionGatewaySettings = {
  address: {
    host: 'functions.localhost',
    origin: 'http://localhost:8082',
    named: 'http://*.functions.localhost:8082',
  },
  runtimes: ['node24', 'python3.12', 'python3.9'],
  environmentKey: newEncryptionKey(),
  region: 'local',
  ownHosts: ['portal.localhost'],
}

let state: State
ledgerOfFile(2, async (made) => {
  state = made
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  await addTestMember(state, ACCOUNT)
})

const callOf = (body: object, name = '') =>
  ({
    caller: { account: ACCOUNT, token: `tok_${ACCOUNT}`, member: `mem_${ACCOUNT}` },
    spend: { requestId: 'req_a' },
    parameters: { function: name },
    body,
  }) as never
const replyOf = (made: unknown): FunctionReply => (made as { body: () => FunctionReply }).body()
const deploy = async (body: Partial<FunctionRequest>, given = settings): Promise<FunctionReply> =>
  replyOf(
    await createResourceDeploy(
      SHOWN_FUNCTIONS,
      { state, settings: given },
      deployFunction,
    )(callOf({ file: 'index.mjs', source: 'export default 1', ...body })),
  )

test('a node that runs no functions says so', async () => {
  await assert.rejects(deploy({ name: 'none' }, { ...settings, address: undefined }), {
    code: 'functions_off',
    status: 503,
  })
})

test(
  'members that a deployment leaves out are as before, and old versions go',
  { skip },
  async () => {
    const first = await deploy({ name: 'kept', memory: '96MB', env: { A: 'secret' } })
    assert.deepEqual(
      [first.version, first.route, first.memory_bytes, first.env, first.timeout_s],
      [1, '/kept', 96_000_000, ['A'], 30],
    )
    const second = await deploy({ name: 'kept', timeout_s: 5 })
    assert.deepEqual(
      [second.id, second.version, second.memory_bytes, second.env, second.timeout_s],
      [first.id, 2, 96_000_000, ['A'], 5],
    )
    const { rows } = await state.query('select * from function_versions where version = 2')
    assert.ok(!JSON.stringify(rows).includes('secret'))
    await state.query('update resources set live_version = 1 where id = $1', [first.id])
    for (let nth = 0; nth < FUNCTION_VERSIONS_MAX; nth++) await deploy({ name: 'kept' })
    const last = await deploy({ name: 'kept' })
    const versions = last.versions.map(({ version }) => version)
    assert.deepEqual(
      [versions.length, versions.at(0), versions.at(-2), versions.at(-1)],
      [FUNCTION_VERSIONS_MAX + 1, 13, 4, 1],
    )
  },
)

test('a function that its budget stopped says so', { skip }, async () => {
  const { id } = await deploy({ name: 'spent', energy_budget: '1 kJ/day' })
  await state.query("update resources set actual = 'suspended' where id = $1", [id])
  await state.query('select hold_by_budget($1)', [id])
  const { status, reason } = SHOWN_FUNCTIONS.replyOf(
    await SHOWN_FUNCTIONS.find(state, ACCOUNT, 'spent'),
    settings,
  )
  assert.deepEqual([status, reason], ['suspended', "today's energy budget is used up"])
})

test('a rollback takes the version before the live one, with its route', { skip }, async () => {
  const back = (version?: number) =>
    createResourceChange(
      SHOWN_FUNCTIONS,
      { state, settings },
      rollBackFunction,
    )(callOf(version === undefined ? {} : { version }, 'moved'))
  const { id } = await deploy({ name: 'moved', route: '/old' })
  await deploy({ name: 'moved', route: '/new' })
  await state.query('update resources set live_version = 2 where id = $1', [id])
  await assert.rejects(async () => back(7), { code: 'function_version_not_found' })
  const made = replyOf(await back())
  assert.deepEqual([made.version, made.route, made.live_version], [1, '/new', 2])
  await state.query('select make_function_live($1, 1)', [id])
  assert.equal((await SHOWN_FUNCTIONS.find(state, ACCOUNT, id)).route, '/old')
})

test('a function is shown as its live version is, also in the export', { skip }, async () => {
  const { id } = await deploy({ name: 'shown', memory: '96MB', source: 'export default 1' })
  await state.query('select make_function_live($1, 1)', [id])
  const made = await deploy({ name: 'shown', memory: '256MB', source: 'export default 2' })
  assert.deepEqual(
    [made.version, made.memory_bytes, made.versions[0]?.memory_bytes],
    [2, 96_000_000, 256_000_000],
  )
  const { rows } = await state.query(FUNCTIONS_OF, [ACCOUNT, '', 100])
  const [exported] = rows.filter((row) => row['id'] === id)
  assert.deepEqual([exported?.['source'], exported?.['version']], ['export default 1', 2])
})

test('a rollback without a version passes over those that never started', { skip }, async () => {
  const { id } = await deploy({ name: 'passed' })
  for (let nth = 2; nth <= 4; nth++) await deploy({ name: 'passed' })
  await state.query('update resources set live_version = 3 where id = $1', [id])
  await state.query(
    "update resource_versions set failure = 'x' where resource = $1 and version in (2, 4)",
    [id],
  )
  const back = createResourceChange(SHOWN_FUNCTIONS, { state, settings }, rollBackFunction)
  assert.equal(replyOf(await back(callOf({}, 'passed'))).version, 1)
})

test(
  'runs at once that the form of the handler takes are no wish of its owner',
  { skip },
  async () => {
    const { id } = await deploy({ name: 'form' })
    await state.query('select make_function_live($1, 1, 20)', [id])
    assert.equal((await SHOWN_FUNCTIONS.find(state, ACCOUNT, id)).concurrency, 20)
    await deploy({ name: 'form' })
    const wish = 'select concurrency from function_versions where function = $1 and version = 2'
    assert.deepEqual((await state.query(wish, [id])).rows, [{ concurrency: null }])
    await state.query('select make_function_live($1, 2, 1)', [id])
    assert.equal((await SHOWN_FUNCTIONS.find(state, ACCOUNT, id)).concurrency, 1)
    const [route] = (await readRoutes(state)).filter((one) => one.id === id)
    assert.equal(route?.concurrency, 1)
  },
)

test('the route of the live version stays its own while another is tried', { skip }, async () => {
  const { id } = await deploy({ name: 'stays', route: '/stays' })
  await state.query('select make_function_live($1, 1)', [id])
  await deploy({ name: 'stays', route: '/wanted' })
  const routes = async () =>
    (await readRoutes(state)).filter((one) => one.id === id).map(({ path }) => path)
  assert.deepEqual(await routes(), ['/stays'])
  for (const route of ['/stays', '/wanted'])
    await assert.rejects(deploy({ name: 'taker', route }), { code: 'route_taken' })
  await state.query('select make_function_live($1, 2)', [id])
  assert.deepEqual(await routes(), ['/wanted'])
  assert.equal((await deploy({ name: 'taker', route: '/stays' })).route, '/stays')
  const back = createResourceChange(SHOWN_FUNCTIONS, { state, settings }, rollBackFunction)
  const taken = { code: 'route_taken', message: /\/stays is another function's/ }
  await assert.rejects(async () => back(callOf({}, 'stays')), taken)
})

test('the route of a version that cannot be started is free', { skip }, async () => {
  const { id } = await deploy({ name: 'broken', route: '/free' })
  await assert.rejects(deploy({ name: 'waiting', route: '/free' }), { code: 'route_taken' })
  await state.query("select fail_function($1, 1, 'x')", [id])
  assert.equal((await deploy({ name: 'waiting', route: '/free' })).route, '/free')
  const back = createResourceChange(SHOWN_FUNCTIONS, { state, settings }, rollBackFunction)
  await assert.rejects(async () => back(callOf({ version: 1 }, 'broken')), { code: 'route_taken' })
})

test(
  'a function has hosts of its own, beside its path and over its versions',
  { skip },
  async () => {
    const routes = ['fn.example.com', 'www.fn.example.com']
    const { id } = await deploy({ name: 'hosted', routes })
    const answering = async () =>
      (await readRoutes(state))
        .filter((one) => one.id === id)
        .map(({ host, path, timeoutS }) => [host ?? '', path, timeoutS].join(' '))
        .toSorted()
    const [first, second] = routes.map((host) => `${host} / 30`)
    assert.deepEqual(await answering(), [' /hosted 30', first, second])
    // A version that cannot be started takes no host away from the account.
    await state.query("select fail_function($1, 1, 'x')", [id])
    assert.deepEqual(await answering(), [first, second])
    const next = await deploy({ name: 'hosted', timeout_s: 5 })
    assert.deepEqual(next.routes, routes)
    await state.query('select make_function_live($1, 2)', [id])
    assert.deepEqual(await answering(), [
      ' /hosted 5',
      'fn.example.com / 5',
      'www.fn.example.com / 5',
    ])
    const taken = { code: 'host_taken', status: 409, param: 'routes' }
    await assert.rejects(deploy({ name: 'rival', routes: ['fn.example.com'] }), taken)
    await assert.rejects(deploy({ name: 'rival', routes: ['a.portal.localhost'] }), taken)
    const change = async (wanted: FunctionChange) => {
      await state.transaction((it) =>
        updateFunction(it, callOf({}), {
          resource: { id },
          change: wanted,
          ownHosts: settings.ownHosts,
        }),
      )
      return SHOWN_FUNCTIONS.replyOf(await SHOWN_FUNCTIONS.find(state, ACCOUNT, id), settings)
    }
    const changed = await change({ routes: ['www.fn.example.com'] })
    assert.deepEqual(changed.routes, ['www.fn.example.com'])
    assert.deepEqual((await deploy({ name: 'rival', routes: ['fn.example.com'] })).routes, [
      'fn.example.com',
    ])
    await state.query('select delete_function($1)', [id])
    assert.deepEqual(await answering(), [])
    await state.query("select move_resource($1, 'deleted')", [id])
    const { rows } = await state.query('select hosts from resources where id = $1', [id])
    assert.deepEqual(rows, [{ hosts: [] }])
  },
)

test(
  'a version that becomes live, or fails, beside a change of the hosts leaves both',
  { skip },
  async () => {
    const { id } = await deploy({ name: 'beside' })
    await state.query('select make_function_live($1, 1)', [id])
    const hosts = Array.from({ length: 10 }, (_, nth) => `b${nth}.example.com`)
    for (let nth = 0; nth < hosts.length; nth++) {
      const { version } = await deploy({ name: 'beside' })
      await Promise.all([
        state.query('select host_resource($1, $2)', [id, hosts.slice(0, nth + 1)]),
        nth % 2 === 0
          ? state.query('select make_function_live($1, $2)', [id, version])
          : state.query("select fail_function($1, $2, 'x')", [id, version]),
      ])
      const routes = (await readRoutes(state)).filter((one) => one.id === id)
      assert.equal(routes.length, nth + 2)
    }
  },
)

test(
  'a change that waits for a host does not hold the head of the ledger, also with a budget',
  { skip },
  async () => {
    const { id: holder } = await deploy({ name: 'holder' })
    const { id } = await deploy({ name: 'waiter' })
    const routes = ['waited.example.com']
    let waiting: Promise<void> | undefined
    await state.transaction(async (one) => {
      await one.query('select host_resource($1, $2)', [holder, routes])
      waiting = state.transaction((two) =>
        updateFunction(two, callOf({}), {
          resource: { id },
          change: { energy_budget: '1 kJ/day', routes },
          ownHosts: settings.ownHosts,
        }),
      )
      waiting.catch(() => undefined)
      const isWaiting = async () =>
        (await one.query('select from pg_locks where not granted')).rowCount > 0
      for (const lastMs = performance.now() + 5000; !(await isWaiting()); await sleep(5))
        assert.ok(performance.now() < lastMs)
      await one.query('select from log_head for update nowait')
    })
    await assert.rejects(waiting ?? Promise.resolve(), { code: 'host_taken' })
  },
)

test('a version that becomes live is told, unless another is wanted by now', { skip }, async () => {
  const { id } = await deploy({ name: 'told' })
  await deploy({ name: 'told' })
  const told: string[] = []
  await using _ = await state.listen('ergon_routes', (text) => void told.push(text))
  const made = async (version: number) =>
    (await state.query('select make_function_live($1, $2) as made', [id, version])).rows[0]
  assert.deepEqual(await made(1), { made: null })
  assert.deepEqual(await made(2), { made: 0 })
  for (const lastMs = performance.now() + 5000; told.length === 0; await sleep(5))
    assert.ok(performance.now() < lastMs)
  assert.equal(told.length, 1)
})

test(
  'the newest of the runs that wait are kept, and those that failed for good',
  { skip },
  async () => {
    const { id } = await deploy({ name: 'late' })
    await state.query(
      `insert into function_runs (function, event, data, next_at, created_at)
     select $1, 'schedule', jsonb_build_object('nth', nth), case when nth > 2 then now() end, now()
     from generate_series(1, 10) nth`,
      [id],
    )
    await forgetRuns(state, 5)
    const { rows } = await state.query(
      "select data ->> 'nth' as nth from function_runs order by id",
    )
    assert.deepEqual(
      rows.map(({ nth }) => Number(nth)),
      [1, 2, 6, 7, 8, 9, 10],
    )
    const log = await state.query('select text from resource_logs where resource = $1', [id])
    assert.match(String(log.rows[0]?.['text']), /^3 runs were dropped: more than 5 waited$/)
  },
)

test('logs are in their order, also beyond the tenth line', { skip }, async () => {
  const { id } = await deploy({ name: 'logged' })
  const lines = Array.from({ length: 120 }, (_, nth) => ({
    resource: id,
    at: new Date(nth),
    level: 'info',
    text: String(nth),
  }))
  await state.query('select log_resources($1, 1000)', [JSON.stringify(lines)])
  type Lines = { readonly data: readonly { readonly text: string }[]; readonly cursor: string }
  const read = async (query: Record<string, string>) => {
    const asked = { query: () => new URLSearchParams(query) }
    const call = { ...(callOf({}, 'logged') as object), ...asked } as never
    const made: unknown = await createFunctionLogs({ state })(call)
    return (made as { body: () => Lines }).body()
  }
  const texts = ({ data }: Lines) => data.map(({ text }) => Number(text))
  assert.deepEqual(texts(await read({})), [...lines.keys()])
  const first = await read({ limit: '5' })
  assert.deepEqual(texts(first), [115, 116, 117, 118, 119])
  assert.deepEqual((await read({ after: first.cursor })).data, [])
})

test(
  'an account has so many functions at most, and one route belongs to one of them',
  { skip },
  async () => {
    await assert.rejects(deploy({ name: 'other', route: '/kept' }), { code: 'route_taken' })
    const { rows } = await state.query(
      "select from resources where account = $1 and kind = 'function' and desired <> 'deleted'",
      [ACCOUNT],
    )
    for (let nth = rows.length; nth < FUNCTIONS_MAX; nth++) await deploy({ name: `f${nth}` })
    const refused = { code: 'too_many_functions', status: 409 }
    await assert.rejects(deploy({ name: 'more' }), refused)
    await state.query("select move_resource(id, 'failed') from resources where name like 'f__'")
    await assert.rejects(deploy({ name: 'more' }), {
      ...refused,
      message: /50 functions; these never started, and can be deleted: f\d+, .*, \d+ more$/,
    })
    // A further version of one that is there is no further function.
    assert.equal((await deploy({ name: `f${rows.length}` })).version, 2)
  },
)

test(
  'the budget of a deleted function limits its cells until they are gone',
  { skip },
  async () => {
    const { id } = await deploy({ name: 'kept', energy_budget: '1 kJ/day' })
    const budgets = async () =>
      (await state.query('select from budgets where id = $1', [id])).rowCount
    await state.query('select delete_function($1)', [id])
    assert.equal(await budgets(), 1)
    await state.query('select remove_function($1)', [id])
    assert.equal(await budgets(), 1)
    await state.query("select move_resource($1, 'deleted')", [id])
    assert.equal(await budgets(), 0)
  },
)
