// Figures for Prometheus from both APIs, and the dashboard and the alerts made of them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { addUpstream, COMPLETION_TOKENS, PROMPT_TOKENS } from '../upstreams.ts'
import { metricFaults, namesIn } from './metric-rules.ts'
import { METERED, METRICS_TOKEN } from '../settings.ts'

product(METERED)

const EXAMPLES = join(import.meta.dirname, '../../examples/monitoring')
const read = (name: string) => readFileSync(join(EXAMPLES, name), 'utf8')
const hasPromtool = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'promtool')))
const promtool = (words: readonly string[], input = '') =>
  execFileSync('promtool', [...words], { input, encoding: 'utf8', stdio: 'pipe' })

async function overTcp(): Promise<string> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  return await (await fetch(`${sharedErgon().baseUrl}/metrics`, { headers })).text()
}
const overSocket = () => sharedErgon().control('node.metrics')

/** The sum of a figure's values whose labels have that text. */
const sumOf = (page: string, name: string, labels = ''): number =>
  page
    .split('\n')
    .filter((line) => /^[^{ ]+/.exec(line)?.[0] === name && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)

const CHAT = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hi' }] })

async function chat(model: string): Promise<{ status: number; joules: number; carbonMg: number }> {
  const ergon = sharedErgon()
  const answer = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(CHAT(model)),
  })
  await answer.text()
  const { status, headers } = answer
  const figure = (name: string) => Number(headers.get(name))
  return { status, joules: figure('x-energy-joules'), carbonMg: figure('x-carbon-mg') }
}

test('the rules find what is wrong with names', () => {
  const planted = [
    ['# HELP a_total A\n# TYPE a_total gauge\na_total 1', 'a_total: ends not as a gauge'],
    ['# HELP a A\n# TYPE a counter\na 1', 'a: ends not as a counter'],
    ['# TYPE a gauge\na 1', 'a: no help'],
    ['# HELP a_ms A\n# TYPE a_ms gauge\na_ms 1', 'a_ms: no base unit'],
    ['# HELP a_joule A\n# TYPE a_joule gauge\na_joule 1', 'a_joule: no base unit'],
    ['# HELP a_count A\n# TYPE a_count gauge\na_count 1', 'a_count: an ending of histograms'],
    ['# HELP a A\n# TYPE a gauge\na{b="c"} 1\na{b="c"} 2', 'a{b="c"}: twice'],
    ['a 1', 'a: no type'],
  ] as const
  for (const [page, fault] of planted) assert.deepEqual(metricFaults(page), [fault])
})

test('joules, carbon, tokens and requests are counted by model and operation, as the answers say them', async () => {
  const upstream = await addUpstream(sharedErgon(), 'gauged')
  const answers = [await chat('gauged'), await chat('gauged')]
  for (let number = 0; number < 3; number++) await chat(`stranger-${number}`)
  const of = 'operation="chat.create",model="gauged"'
  // A request is counted a moment after its caller has the last byte.
  let page = await overTcp()
  for (; sumOf(page, 'ergon_requests_total', of) < answers.length; page = await overTcp())
    await pause(20)
  const sum = (read: (answer: (typeof answers)[number]) => number) =>
    answers.reduce((total, answer) => total + read(answer), 0)
  assert.ok(answers.every(({ status }) => status === 200))
  const near = (one: number, other: number) => assert.ok(Math.abs(one - other) < 1e-9 * other)
  near(
    sumOf(page, 'ergon_energy_joules_total', of),
    sum(({ joules }) => joules),
  )
  near(sumOf(page, 'ergon_carbon_grams_total', of), sum(({ carbonMg }) => carbonMg) / 1000)
  assert.equal(sumOf(page, 'ergon_tokens_total', `${of},kind="prompt"`), 2 * PROMPT_TOKENS)
  assert.equal(sumOf(page, 'ergon_tokens_total', `${of},kind="completion"`), 2 * COMPLETION_TOKENS)
  assert.ok(!page.includes('stranger-'), 'what a caller names is no label')
  await sharedErgon().control('model.remove', { model: 'gauged' })
  await upstream.close()
})

test('the power of the processes adds up to that of the machine, by both APIs', async () => {
  for (const page of [overTcp, overSocket]) {
    let text = await page()
    // Left out while the state is slow to say it.
    while (!text.includes('\nergon_node_power_watts')) text = await page()
    const watts = sumOf(text, 'ergon_node_power_watts')
    assert.ok(watts > 0)
    assert.ok(Math.abs(sumOf(text, 'ergon_cell_power_watts') - watts) < 1e-6 * watts)
    assert.match(text, /^ergon_cell_power_watts\{cell="gw-1",payer="operator"/m)
    assert.match(text, /^ergon_meter_band_ratio\{method="\w+"/m)
    assert.ok(sumOf(text, 'ergon_meter_window_age_seconds') < 30)
  }
})

test('promtool accepts every figure of both APIs', async () => {
  for (const page of [await overTcp(), await overSocket()]) {
    assert.deepEqual(metricFaults(page), [])
    if (hasPromtool) promtool(['check', 'metrics'], page)
  }
})

type Target = { readonly expr: string }
type Panel = { readonly title: string; readonly targets?: readonly Target[] }
type Variable = { readonly name: string; readonly definition?: string }
type Dashboard = {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly Variable[] }
}

test('the dashboard and the alerts ask for figures that there are', async () => {
  const page = await overTcp()
  const known = (name: string) =>
    new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm').test(page)
  for (const file of ['grafana.json', 'alerts.yml']) {
    const names = namesIn(read(file))
    assert.ok(names.length > 5)
    assert.deepEqual(
      names.filter((name) => !known(name)),
      [],
      file,
    )
  }
  assert.ok(!known('ergon_no_such_figure'))
})

test('the expressions of the dashboard and the alerts are PromQL', { skip: !hasPromtool }, (t) => {
  promtool(['check', 'rules', join(EXAMPLES, 'alerts.yml')])
  const { panels, templating } = JSON.parse(read('grafana.json')) as Dashboard
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const variables = templating.list.map(({ name }) => name)
  const filled = expressions.map((expr) =>
    expr.replaceAll(/\$(\w+)/g, (_, name: string) => {
      assert.ok(name === '__rate_interval' || variables.includes(name), expr)
      return name === '__rate_interval' ? '1m' : '.*'
    }),
  )
  const folder = mkdtempSync(join(tmpdir(), 'ergon-rules-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'rules.yml')
  const rules = filled.map((expr, index) => ({ record: `dashboard:${index}`, expr }))
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  assert.match(promtool(['check', 'rules', file]), new RegExp(`${filled.length} rules found`))
  const source = /"datasource": \{\s*"type": "prometheus",\s*"uid": "([^"]*)"/g
  const uids = new Set([...read('grafana.json').matchAll(source)].map(([, uid]) => uid))
  assert.deepEqual([...uids], ['${datasource}'], 'whatever a Prometheus is called there')
})
