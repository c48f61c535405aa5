// Honest calls of the operations of functions, for the matrix.
import type { Row } from './matrix-row.ts'

const NAME = 'matrix'
const path = () => `/v1/functions/${NAME}`
const code = { file: 'index.mjs', source: "export default () => new Response('matrix')" }
// The rows run side by side: the first deployment makes it.
const statuses = [200, 404]

export const FUNCTIONS_ROWS: Readonly<Record<string, Row>> = {
  'function.deploy': {
    path: () => '/v1/functions',
    body: { name: NAME, ...code },
    statuses: [201],
    badBodies: [
      { body: code, param: 'name' },
      { body: { name: NAME }, param: 'file' },
      { body: { name: 'Not a name', ...code }, param: 'name' },
      { body: { name: NAME, ...code, file: '../index.mjs' }, param: 'file' },
      { body: { name: NAME, ...code, file: 'index.rb' }, param: 'file' },
      { body: { name: NAME, ...code, source: '' }, param: 'source' },
      { body: { name: NAME, ...code, route: 'hello' }, param: 'route' },
      { body: { name: NAME, ...code, route: '/a/../b' }, param: 'route' },
      { body: { name: NAME, ...code, memory: '1KB' }, param: 'memory' },
      { body: { name: NAME, ...code, timeout_s: 0 }, param: 'timeout_s' },
      { body: { name: NAME, ...code, env: { SVC_TOKEN: 'x' } }, param: 'env.SVC_TOKEN' },
      { body: { name: NAME, ...code, env: { A: 1 } }, param: 'env.A' },
      { body: { name: NAME, ...code, energy_budget: '10 kJ' }, param: 'energy_budget' },
      { body: { name: NAME, ...code, replicas: 3 }, param: 'replicas' },
      { body: { name: NAME, ...code, on: ['bucket/photos/deleted'] }, param: 'on[0]' },
      { body: { name: NAME, ...code, schedule: '60 * * * *' }, param: 'schedule' },
      { body: { name: NAME, ...code, concurrency: 0 }, param: 'concurrency' },
      { body: { name: NAME, ...code, routes: ['Not A Host'] }, param: 'routes[0]' },
    ],
  },
  'function.list': { path: () => '/v1/functions' },
  'function.get': { path, statuses },
  'function.logs': { path: () => `${path()}/logs?limit=10`, statuses },
  'function.energy': { path: () => `${path()}/energy?since=1h`, statuses },
  'function.intervals': { path: () => `${path()}/intervals?limit=10`, statuses },
  'function.failures': { path: () => `${path()}/failures`, statuses },
  'function.replay': {
    path: () => `${path()}/failures/replay`,
    body: {},
    statuses,
    badBodies: [{ body: { id: 'all' }, param: 'id' }],
  },
  'function.discard': {
    path: () => `${path()}/failures/discard`,
    body: { all: true },
    statuses,
    badBodies: [
      { body: {}, param: null },
      { body: { id: '1', all: true }, param: null },
      { body: { all: false }, param: 'all' },
      { body: { id: 'all' }, param: 'id' },
    ],
  },
  'function.update': {
    path,
    body: { energy_budget: '5 kJ/day' },
    statuses,
    badBodies: [
      { body: {}, param: null },
      { body: { suspended: 'yes' }, param: 'suspended' },
      { body: { energy_budget: '1 J/day' }, param: 'energy_budget' },
      { body: { memory: '256MB' }, param: 'memory' },
    ],
  },
  'function.rollback': {
    path: () => '/v1/functions/none/rollback',
    body: {},
    statuses: [404],
    badBodies: [{ body: { version: 0 }, param: 'version' }],
  },
  'function.delete': { path: () => '/v1/functions/none', statuses: [404] },
}
