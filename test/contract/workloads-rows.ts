// Honest calls of the operations of workloads, for the matrix.
import type { Row } from './matrix-row.ts'

const NAME = 'matrix'
const path = () => `/v1/workloads/${NAME}`
const none = (verb: string) => () => `/v1/workloads/none${verb}`
// An address that no image is pulled from.
const image = '127.0.0.1:1/matrix'
// The rows run side by side: the first deployment makes it.
const statuses = [200, 404]
const volume = (more: object = {}) => ({ name: 'data', path: '/data', size: '16MB', ...more })
const bad = (member: string, value: unknown, param: string | null = member) => ({
  body: { name: NAME, image, [member]: value },
  param,
})

export const WORKLOADS_ROWS: Readonly<Record<string, Row>> = {
  'workload.deploy': {
    path: () => '/v1/workloads',
    body: { name: NAME, image },
    statuses: [201],
    badBodies: [
      { body: { image }, param: 'name' },
      { body: { name: NAME }, param: 'image' },
      bad('name', 'Not a name'),
      bad('image', 'a image'),
      bad('port', 0),
      bad('command', []),
      bad('env', { SVC_TOKEN: 'x' }, 'env.SVC_TOKEN'),
      bad('secrets', { A: 1 }, 'secrets.A'),
      bad('cpu', 0),
      bad('memory', '1MB'),
      bad('health', { path: 'healthz' }, 'health.path'),
      bad('volumes', [volume({ size: '1MB' })], 'volumes[0].size'),
      bad('volumes', [volume({ name: 'Data' })], 'volumes[0].name'),
      ...['data', '/', '/a/../b', '/a//b', '/etc', '/proc/x', '/dev/shm'].map((at) =>
        bad('volumes', [volume({ path: at })], 'volumes[0].path'),
      ),
      bad('volumes', [volume(), volume({ path: '/other' })]),
      bad('volumes', [volume(), volume({ name: 'b', path: '/data/b' })]),
      bad('delete_volumes', ['data'], null),
      bad('scale', { min: 3, max: 2 }),
      bad('scale_to_zero_after', '1s'),
      bad('routes', ['Not.a.host'], 'routes[0]'),
      bad('region', 'mars'),
      bad('energy_budget', '10 kJ'),
      bad('replicas', 3),
    ],
  },
  'workload.list': { path: () => '/v1/workloads' },
  'workload.get': { path, statuses },
  'workload.logs': { path: () => `${path()}/logs?lines=10`, statuses },
  'workload.intervals': { path: () => `${path()}/intervals?limit=10`, statuses },
  'workload.energy': { path: () => `${path()}/energy?since=1h`, statuses },
  'workload.update': {
    path,
    body: { energy_budget: '5 kJ/day' },
    statuses,
    badBodies: [
      { body: {}, param: null },
      { body: { memory: '1MB' }, param: 'memory' },
      { body: { name: 'other' }, param: 'name' },
    ],
  },
  'workload.scale': {
    path: () => `${path()}/scale`,
    body: { min: 0, max: 1 },
    statuses,
    badBodies: [
      { body: {}, param: null },
      { body: { min: 2, max: 1 }, param: null },
      { body: { max: 0 }, param: 'max' },
      { body: { target_requests: 0 }, param: 'target_requests' },
    ],
  },
  'workload.suspend': {
    path: none('/suspend'),
    body: {},
    statuses: [404],
    badBodies: [{ body: { why: 'none' }, param: 'why' }],
  },
  'workload.resume': {
    path: none('/resume'),
    body: {},
    statuses: [404],
    badBodies: [{ body: { why: 'none' }, param: 'why' }],
  },
  'workload.rollback': {
    path: none('/rollback'),
    body: {},
    statuses: [404],
    badBodies: [{ body: { version: 0 }, param: 'version' }],
  },
  'workload.delete': { path: none(''), statuses: [404] },
  'registry.list': { path: () => '/v1/registries' },
  'registry.login': {
    path: () => '/v1/registries/matrix.example.com',
    body: { username: 'reader', password: 'x' },
    badBodies: [
      { body: { password: 'x' }, param: 'username' },
      { body: { username: 'a:b', password: 'x' }, param: 'username' },
      { body: { username: 'a', password: '' }, param: 'password' },
      { body: { username: 'a', password: 'x', token: 'x' }, param: 'token' },
    ],
  },
  'registry.logout': { path: () => '/v1/registries/none.example.com', statuses: [404] },
}
