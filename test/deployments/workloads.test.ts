// Workloads and routes of description files, from an image: deployed, changed, refused, failing, destroyed.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { writeServerImage } from '../workloads/image.ts'
import { ask as askAt, until, workloadClient } from '../workloads/workload-client.ts'

let ergon: Ergon
let folder: string
let image: string
let client: ReturnType<typeof workloadClient>
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ergon-stacks-'))
  // Cells have uids of their own.
  chmodSync(folder, 0o755)
  writeServerImage(join(folder, 'images/server'))
  image = `oci:${folder}/images/server:v1`
  ergon = await startErgon({ env: { ERGON_IMAGE_FOLDER: join(folder, 'images') } })
  client = workloadClient(ergon)
})
after(async () => {
  await ergon?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The file of the stack "api". */
function write(description: string): string {
  mkdirSync(join(folder, 'api'), { recursive: true })
  const file = join(folder, 'api/ergon.hcl')
  writeFileSync(file, description)
  return file
}

const STACK = () => `workload "api" {
  image         = "${image}"
  region        = "auto"
  energy_budget = "250 kJ/day"
}

route "api.example.com" {
  to = workload.api
}
`
/** The stack, with further attributes. */
const stackWith = (more: string): string => STACK().replace('\n}', `\n${more}\n}`)

const plan = (description: string) => ergon.cli('plan', '--file', write(description))
async function deploy(description: string): Promise<string> {
  const made = await ergon.cli('deploy', '--file', write(description), '--yes')
  assert.equal(made.code, 0, made.stderr)
  assert.match((await plan(description)).stdout, /^api: nothing to change$/m)
  return made.stderr
}
/** A request with that Host. */
const ask = async (host: string, path = '/') =>
  await askAt(String(ergon.ready['functions_url']).replace(/\/\/[^:]+/, `//${host}`), path)
const answers = (host: string, wanted: string) =>
  until(
    () => ask(host),
    ({ text }) => text === wanted,
  )
const routes = () =>
  ergon.sql<{ host: string }>('select host from ingress_routes where host is not null')

test('a workload and its route deploy, and answer at the host', async () => {
  const planned = await plan(STACK())
  assert.match(planned.stdout, /^ {2}\+ workload\.api +image oci:.*energy_budget 250 kJ\/day/m)
  assert.match(planned.stdout, /^ {2}\+ route\.api\.example\.com +to workload\.api$/m)
  await deploy(STACK())
  assert.deepEqual(await ask('api.example.com'), { status: 200, text: 'hello from version ?\n' })
  assert.equal((await client.show('api')).version, 1)
})

test('a change makes another version, and one of the scale none', async () => {
  const more = `
    port    = 8080
    command = ["/usr/bin/perl", "/app/server.pl"]
    cpu     = 0.5
    memory  = "64MB"
    env     = { VERSION = "two" }
    health {
      path = "/healthz"
    }
    secret "KEY" {
      value = "s3cret"
    }`
  const planned = await plan(stackWith(more))
  for (const change of [
    'memory 256MB → 64MB',
    'cpu 1 → 0.5',
    'env.VERSION (hidden)',
    'secret.KEY (hidden)',
    'health.path none → /healthz',
  ])
    assert.ok(planned.stdout.includes(change), planned.stdout)
  await deploy(stackWith(more))
  await answers('api.example.com', 'hello from version two\n')
  assert.match((await ask('api.example.com', '/env')).text, /^KEY=s3cret$/m)
  assert.equal((await client.show('api')).live_version, 2)
  const scaled = `${more}\nscale_to_zero_after = "1m"\nscale {\n min = 1\n max = 3\n target_requests = 20\n}`
  assert.match(
    await deploy(stackWith(scaled)),
    /scale\.min 0 → 1, scale\.max 1 → 3, scale\.target_requests 50 → 20, scale_to_zero_after 5m → 1m/,
  )
  assert.equal((await client.show('api')).version, 2)
  // An attribute that is left out has its default again.
  await deploy(STACK())
  await answers('api.example.com', 'hello from version ?\n')
})

test('a version that does not become ready fails the deployment, and the live one answers', async () => {
  const broken = stackWith('env = { EXIT_AT_START = "7" }')
  const failed = await ergon.cli('deploy', '--file', write(broken), '--yes')
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /ergon\.hcl:1:1: workload\.api: .*exit code 7/)
  assert.equal((await ask('api.example.com')).status, 200)
  assert.match((await plan(broken)).stdout, /~ workload\.api +env\.EXIT_AT_START \(hidden\)$/m)
  // The file of the live version wants that again.
  const again = /~ workload\.api .*it is tried again: version \d+ is not ready: .*exit code 7/
  assert.match((await plan(STACK())).stdout, again)
  await deploy(STACK())
  const { version, live_version } = await client.show('api')
  assert.equal(version, live_version)
})

const volume = (size: string) => `volume "data" {\n path = "/data"\n size = "${size}"\n}`

test('a volume grows, does not shrink, and is deleted where that is allowed', async () => {
  const made = await deploy(stackWith(volume('16MB')))
  assert.match(made, /volume\.data\.path none → \/data, volume\.data\.size none → 16MB/)
  assert.equal((await ask('api.example.com', '/keep/it')).text, 'kept it')
  assert.match(await deploy(stackWith(volume('32MB'))), /volume\.data\.size 16MB → 32MB/)
  assert.equal((await ask('api.example.com', '/kept')).text, 'it')
  const smaller = await plan(stackWith(volume('16MB')))
  assert.match(smaller.stderr, /:1:1: Could not make the volume "data" smaller/)
  const without = await plan(STACK())
  assert.match(
    without.stderr,
    /:1:1: Could not change workload\.api: its data would be deleted: volume data \([\d.]+ MB\); --allow-delete/,
  )
  const gone = await ergon.cli('plan', '--allow-delete', '--file', write(STACK()))
  assert.match(gone.stdout, /volume\.data\.path \/data → none, .*it deletes data: volume data \(/)
  const kept = await ergon.cli('plan', '--file', write('locals {\n a = 1\n}\n'))
  assert.match(kept.stdout, /workload\.api .*it holds data: volume data .*is kept: --allow-delete/)
  const all = ['deploy', '--allow-delete', '--yes', '--file', write(STACK())] as const
  assert.equal((await ergon.cli(...all)).code, 0)
  assert.deepEqual(await ergon.sql('select from workload_volumes'), [])
  assert.equal((await ask('api.example.com', '/kept')).text, 'No such file or directory')
})

test('a block that is not served is refused with its place', async () => {
  const refused: readonly (readonly [description: string, why: RegExp])[] = [
    [
      stackWith(`${volume('1GB')}\nscale {\n max = 2\n}`),
      /:(?!1:)\d+:1: Expected max to be 1, as a workload with a volume has one instance at most/,
    ],
    [STACK().replaceAll(image, 'oci:/etc/passwd'), /:1:1: .*the operator's folder/],
    [STACK().replace('api.example.com', 'a.portal.localhost'), /:7:1: .*localhost is taken/],
  ]
  for (const [description, why] of refused) {
    const { code, stderr } = await plan(description)
    assert.equal(code, 1)
    assert.match(stderr, why)
  }
})

test('a route moves to another workload, and a host of another account is refused', async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account: id, scope: 'deploy' })
  const other = workloadClient({ baseUrl: ergon.baseUrl, token })
  const theirs = { name: 'theirs', image, routes: ['theirs.example.com'] }
  assert.equal((await other.api('POST', '', theirs)).status, 201)
  const next = `workload "next" {\n image = "${image}"\n env = { VERSION = "next" }\n}\n`
  const moved = `${STACK().replace('to = workload.api', 'to = workload.next')}${next}`
  assert.match(await deploy(moved), /~ route\.api\.example\.com +to workload\.api → workload\.next/)
  await answers('api.example.com', 'hello from version next\n')
  const taken = `${moved}route "theirs.example.com" {\n to = workload.api\n}`
  const refused = await plan(taken)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /ergon\.hcl:\d+:1: .*theirs\.example\.com is taken/)
  // A route that left the file is no host any more; the workload stays.
  await deploy(`${next}${STACK().slice(0, STACK().indexOf('route'))}`)
  assert.equal((await ask('api.example.com')).status, 404)
})

test('a route moves from a workload to a function, and back', async () => {
  const lambda = 'function "lambda" {\n file = "lambda.mjs"\n}\n'
  const source = "export default () => new Response('hello from a function')\n"
  writeFileSync(join(folder, 'api/lambda.mjs'), source)
  await deploy(STACK() + lambda)
  await answers('api.example.com', 'hello from version ?\n')
  const moved = `${STACK().replace('to = workload.api', 'to = function.lambda')}${lambda}`
  const made = await deploy(moved)
  assert.match(made, /~ route\.api\.example\.com +to workload\.api → function\.lambda/)
  await answers('api.example.com', 'hello from a function')
  // The workload goes with its block, after the route has left it.
  await deploy(`${moved.slice(moved.indexOf('route'))}`)
  await answers('api.example.com', 'hello from a function')
  await deploy(STACK())
  await answers('api.example.com', 'hello from version ?\n')
})

test("a host that was given to another workload is a change, and not the stack's to remove", async () => {
  const next = `workload "next" {\n image = "${image}"\n env = { VERSION = "next" }\n}\n`
  await deploy(STACK() + next)
  const give = async (name: string, routes: readonly string[]) =>
    assert.equal((await client.api('PATCH', `/${name}`, { routes })).status, 200)
  const giveNext = async () => {
    await give('api', [])
    await give('next', ['api.example.com'])
  }
  await giveNext()
  assert.match(
    (await plan(STACK() + next)).stdout,
    /~ route\.api\.example\.com +to workload\.next → workload\.api.*it was replaced by other means/,
  )
  await deploy(STACK() + next)
  await answers('api.example.com', 'hello from version ?\n')
  await giveNext()
  const left = `${STACK().slice(0, STACK().indexOf('route'))}${next}`
  assert.match(await deploy(left), /- route\.api\.example\.com +.*it was deleted by other means/)
  await answers('api.example.com', 'hello from version next\n')
  await give('next', [])
})

test('destroy leaves nothing of the stack', async () => {
  await deploy(STACK())
  const gone = await ergon.cli('destroy', '--file', join(folder, 'api/ergon.hcl'), '--yes')
  assert.equal(gone.code, 0, gone.stderr)
  for (const name of ['api', 'next'])
    assert.equal((await client.api('GET', `/${name}`)).status, 404)
  assert.deepEqual(
    (await routes()).map(({ host }) => host).filter((host) => !host.startsWith('theirs')),
    [],
  )
  assert.deepEqual(await ergon.sql('select address from stack_resources'), [])
})

test('the example site deploys, answers and goes', async () => {
  const file = join(import.meta.dirname, '../../examples/site/ergon.hcl')
  const given = ['--file', file, '--var', `image=${image}`]
  const made = await ergon.cli('deploy', ...given, '--yes')
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^address +http:\/\/example-site\.localhost:\d+$/m)
  await answers('example-site.localhost', 'hello from version example\n')
  const gone = await ergon.cli('destroy', '--file', file, '--yes')
  assert.equal(gone.code, 0, gone.stderr)
})
