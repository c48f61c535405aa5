// Real calls of a process with the filter, and the same calls without it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { ruleOf, syscallsOf } from './allowed.ts'
import { filteredBy, syscallFilter } from './filter.ts'
import { LAST_SYSCALL, OWN_ARCHITECTURE, syscallNumbers } from './numbers.ts'

const PERL = '/usr/bin/perl'
const architecture = OWN_ARCHITECTURE
const numbers = syscallNumbers(architecture)
const numbersOf = (names: readonly string[]) => names.flatMap((name) => numbers.get(name) ?? [])
const skip = existsSync(PERL) ? false : 'perl is missing'
const EPERM = 1
const ENOSYS = 38

/** The output of a program, with the filter or without. */
function outputOf(program: readonly string[], isFiltered = true): string {
  const before = isFiltered ? filteredBy(PERL, architecture) : []
  const done = spawnSync('setpriv', ['--no-new-privs', '--', ...before, ...program], {
    encoding: 'utf8',
  })
  assert.equal(done.signal, null)
  return done.stdout
}

/** The errno of each call, made with arguments that no kernel accepts; 0 for a call that worked. */
function errnosOf(numbers: readonly number[], isFiltered = true): readonly number[] {
  const script =
    'print join " ", map { $! = 0; my $r = syscall($_ + 0, -1, -1, -1, -1, -1); $r == -1 ? $! + 0 : 0 } @ARGV'
  return outputOf([PERL, '-e', script, ...numbers.map(String)], isFiltered)
    .split(' ')
    .map(Number)
}

// They act whatever their arguments are.
const ACTING = ['vhangup', 'reboot', 'kexec_load', 'syslog', 'iopl', 'unshare']

test(
  'each denied call fails with EPERM, and fails otherwise or works without the filter',
  { skip },
  () => {
    const denied = syscallsOf(architecture, 'denied')
    const harmless = numbersOf(denied.filter((name) => !ACTING.includes(name)))
    assert.ok(harmless.length > 45)
    assert.deepEqual([...new Set(errnosOf(harmless))], [EPERM])
    const acting = numbersOf(ACTING)
    assert.deepEqual([...new Set(errnosOf(acting))], [EPERM])
    assert.ok(new Set(errnosOf(harmless, false)).size > 3)
  },
)

test('calls of later kernels, and clone3, do not exist', { skip }, () => {
  const none = [LAST_SYSCALL + 1, LAST_SYSCALL + 2, 999, ...numbersOf(['clone3'])]
  assert.deepEqual([...new Set(errnosOf(none))], [ENOSYS])
})

test('calls of the x32 interface are denied', { skip: skip || architecture !== 'x64' }, () => {
  assert.deepEqual(errnosOf([0x4000_0027, 0x4000_0000 + 520]), [EPERM, EPERM])
})

test('sockets of unix, IPv4, IPv6 and netlink are made, and of no other family', { skip }, () => {
  const script =
    'print join " ", map { socket(my $s, $_, $_ == 16 ? 3 : 1, 0) ? "made" : "none" } 1, 2, 10, 16, 17, 38, 40'
  assert.equal(outputOf([PERL, '-e', script]), 'made made made made none none none')
})

test('sockets of netlink are of routes alone, not of devices, sockets or audits', { skip }, () => {
  const script =
    'print join " ", map { socket(my $s, 16, 3, $_) ? "made" : $! + 0 } 0, 4, 9, 12, 15, 16'
  assert.equal(outputOf([PERL, '-e', script]), 'made 97 97 97 97 97')
})

test('no namespace is made, by clone or by unshare', { skip }, () => {
  const clone = numbers.get('clone')
  const namespaces = [
    0x0002_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000, 0x0200_0000,
  ]
  const script = `print join " ", map { $! = 0; syscall(${clone}, $_ | 17, 0, 0, 0, 0) == -1 ? $! + 0 : POSIX::_exit(0) } @ARGV`
  const errnos = outputOf([PERL, '-MPOSIX', '-e', script, ...namespaces.map(String)])
  assert.deepEqual([...new Set(errnos.split(' ').map(Number))], [EPERM])
})

test('programs of every day run: threads, children, servers', { skip }, () => {
  const script = `const { Worker } = require('node:worker_threads')
    const { createServer } = require('node:http')
    const child = require('node:child_process').execFileSync('echo', ['child'], { encoding: 'utf8' })
    const server = createServer((_, answer) => answer.end('served')).listen(0, '127.0.0.1', async () => {
      const text = await (await fetch('http://127.0.0.1:' + server.address().port)).text()
      new Worker('', { eval: true }).on('exit', () => { console.log(child.trim(), text, 'thread'); process.exit() })
    })`
  assert.equal(outputOf([process.execPath, '-e', script]), 'child served thread\n')
})

test('the program is one for the kernel: whole instructions, fewer than its limit, for both processors', () => {
  for (const one of ['x64', 'arm64'] as const) {
    const bytes = syscallFilter(one)
    assert.equal(bytes.length % 8, 0)
    assert.ok(bytes.length / 8 < 4096)
  }
})

/** Calls that the default profile of Docker gives with capabilities alone. Source: github.com/moby/profiles, seccomp/default.json. */
const NEEDS_CAPABILITIES =
  `open_by_handle_at bpf fanotify_init fsconfig fsmount fsopen fspick lookup_dcookie mount
  mount_setattr move_mount open_tree perf_event_open quotactl quotactl_fd setdomainname sethostname setns syslog umount2
  unshare reboot chroot delete_module init_module finit_module acct kcmp pidfd_getfd process_madvise process_vm_readv
  process_vm_writev ptrace iopl ioperm settimeofday clock_settime vhangup get_mempolicy mbind set_mempolicy
  set_mempolicy_home_node`.split(/\s+/)
/** Calls that it gives to nobody. */
const NEVER =
  `add_key request_key keyctl userfaultfd io_uring_setup io_uring_enter io_uring_register kexec_load
  kexec_file_load swapon swapoff pivot_root migrate_pages move_pages nfsservctl personality clone socket`.split(
    /\s+/,
  )

test('the table allows no call that the default profile of Docker does not', () => {
  for (const name of [...NEEDS_CAPABILITIES, ...NEVER])
    assert.notEqual(ruleOf(name), 'allowed', name)
  for (const one of ['x64', 'arm64'] as const) assert.ok(syscallsOf(one, 'allowed').length < 290)
})
