// The network that a relay enters is that of a process of its container, whichever process has a number by then.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readlinkSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { findCgroups } from '#cells/cgroup.ts'
import { relayCommand } from './command.ts'

const { unified } = findCgroups()
const CANNOT = {
  skip: process.getuid?.() === 0 && unified !== undefined ? false : 'needs root and control groups',
}
const IN_GROUP = 'echo $$ > "$1"/cgroup.procs; shift; exec "$@"'
let count = 0

/** A group with one for a relay; `start` runs a program in one of them. */
function open(t: TestContext) {
  const group = join(unified ?? '', `ergon-relay-${process.pid}-${count++}`)
  const groups = { own: join(group, 'own'), relay: join(group, 'relay') }
  for (const folder of [group, groups.own, groups.relay]) mkdirSync(folder)
  const home = mkdtempSync(join(tmpdir(), 'relay-'))
  const children: ReturnType<typeof spawn>[] = []
  t.after(async () => {
    for (const child of children)
      if (child.exitCode === null && child.signalCode === null) {
        const closed = once(child, 'close')
        child.kill('SIGKILL')
        await closed
      }
    for (const folder of [groups.own, groups.relay, group]) rmdirSync(folder)
    rmSync(home, { recursive: true })
  })
  const start = (where: 'own' | 'relay' | undefined, words: readonly string[]) => {
    const all = where === undefined ? words : ['sh', '-c', IN_GROUP, 'sh', groups[where], ...words]
    const child = spawn(all[0] ?? '', all.slice(1), {
      // The last descriptor is that of a config.
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    return child
  }
  const relay = (pid: number | undefined) =>
    start('relay', [
      'unshare',
      '--cgroup',
      ...relayCommand({
        perl: '/usr/bin/perl',
        process: `/proc/${pid}`,
        port: 8080,
        socket: join(home, 'relay.sock'),
        outlet: undefined,
        identity: { uid: 0, gid: 0, groups: [] },
      }),
    ])
  return { start, relay }
}

const SLEEP = ['unshare', '--net', 'sleep', '600']
const networkOf = (pid: number | undefined) => readlinkSync(`/proc/${pid}/ns/net`)

/** A program in a network of its own. */
async function apart(child: ReturnType<typeof spawn>) {
  while (networkOf(child.pid) === networkOf(process.pid)) await pause(5)
  return child
}

test('a relay enters the network of a process of its container', CANNOT, async (t) => {
  const { start, relay } = open(t)
  const member = await apart(start('own', SLEEP))
  const entered = relay(member.pid)
  while (networkOf(entered.pid) !== networkOf(member.pid)) {
    assert.equal(entered.exitCode, null)
    await pause(5)
  }
})

test(
  'a relay does not enter the network of another process that has the number',
  CANNOT,
  async (t) => {
    const { start, relay } = open(t)
    const stranger = await apart(start(undefined, SLEEP))
    const refused = relay(stranger.pid)
    const said = refused.stderr === null ? '' : await text(refused.stderr)
    assert.match(said, /is no process of the container/)
  },
)
