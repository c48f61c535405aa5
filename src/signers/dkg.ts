// A signer's side of making the key: three rounds after Pedersen's distributed key generation (as in
// frost-core; RFC 9591 leaves it open), then a fourth step that makes the share the one in use. No
// process ever holds the whole key. A run that stops anywhere leaves at most a pending share, which
// the next run replaces; a share in use is replaced only by that of a key which its own key names.
import { createHash } from 'node:crypto'
import { canonicalJson } from '#base/canonical-json.ts'
import { messageOf } from '#base/errors.ts'
import { PUBLIC_KEY_BYTES } from '#tlog/checkpoint.ts'
import { isHandover } from '#tlog/handover.ts'
import {
  envelopeKey,
  newExchangeKey,
  openEnvelope,
  sealEnvelope,
  type ExchangeKey,
} from './envelope.ts'
import { decode } from './frost-group.ts'
import { publicKeyOf, startDkg, type DkgRun } from './frost-key.ts'
import type { KeyStore } from './keystore.ts'
import {
  refusal,
  SIGNERS,
  type FinishRequest,
  type Round1Reply,
  type Round1Request,
  type Round2Reply,
  type Round2Request,
  type Round3Reply,
  type Round3Request,
} from './wire.ts'

export type Dkg = {
  round1(request: Round1Request): Round1Reply
  round2(request: Round2Request): Round2Reply
  round3(request: Round3Request): Round3Reply
  finish(request: FinishRequest): Record<string, never>
}

type Run = {
  readonly ceremony: string
  readonly exchange: ExchangeKey
  readonly own: Round1Reply
  readonly polynomial: DkgRun
  transcript: Buffer
  packages: Map<number, Round1Reply>
}

export function createDkg(index: number, store: KeyStore): Dkg {
  let run: Run | undefined
  const current = (ceremony: string): Run => {
    if (run?.ceremony !== ceremony)
      throw refusal('ceremony_unknown', `Restarted since it began, or another began: ${ceremony}`)
    return run
  }
  return {
    round1({ ceremony }) {
      run?.polynomial.forget()
      run = startRun(index, ceremony)
      return run.own
    },
    round2({ ceremony, packages }) {
      const running = current(ceremony)
      // Dealt twice, to other keys of exchange, a party in between could get the shares.
      if (running.packages.size > 0)
        throw refusal('share_refused', 'The second round of this ceremony was already asked for')
      readPackages(running, index, packages)
      const shares = guarded(() =>
        [...running.polynomial.sharesFor(running.packages)].map(
          ([to, share]) => [to, seal(running, { from: index, to }, share)] as const,
        ),
      )
      return { shares: Object.fromEntries(shares) }
    },
    round3({ ceremony, shares }) {
      const running = current(ceremony)
      const opened = guarded(
        () =>
          new Map(
            [...running.packages.keys()].map((from) => [
              from,
              open(running, { from, to: index }, shares),
            ]),
          ),
      )
      const share = guarded(() => running.polynomial.finish(opened))
      // Its polynomial is gone: whatever becomes of the share, a new ceremony is needed for another.
      run = undefined
      store.savePending(share)
      return { group: share.group, transcript: running.transcript.toString('base64') }
    },
    finish({ group, handover }) {
      const wanted = JSON.stringify(group)
      if (store.active !== undefined) {
        if (JSON.stringify(store.active.group) === wanted) return {}
        const [from, to] = [publicKeyOf(store.active.group), publicKeyOf(group)]
        if (handover === undefined || !isHandover(handover, from, to))
          throw refusal('key_exists', 'This signer has another key, which does not name this one')
      }
      if (JSON.stringify(store.pending?.group) !== wanted)
        throw refusal('no_key', 'This signer has no share of that key')
      store.activate(handover)
      return {}
    },
  }
}

function startRun(index: number, ceremony: string): Run {
  const exchange = newExchangeKey()
  const polynomial = startDkg(index)
  const own = { ...polynomial.own, exchangeKey: exchange.publicKey.toString('base64') }
  return { ceremony, exchange, own, polynomial, transcript: Buffer.alloc(0), packages: new Map() }
}

// The packages as all five should have seen them, hashed: the salt of every envelope, and the value that the
// coordinator compares at the end.
function readPackages(run: Run, index: number, packages: Round2Request['packages']): void {
  const numbers = Array.from({ length: SIGNERS }, (_, nth) => nth + 1)
  const all = new Map<number, Round1Reply>()
  for (const number of numbers) {
    const received = packages[number]
    if (received === undefined) throw refusal('malformed', `No package of signer ${number}`)
    all.set(number, received)
  }
  const text = (part: Round1Reply | undefined): string =>
    JSON.stringify([part?.commitment, part?.proof, part?.exchangeKey])
  if (text(all.get(index)) !== text(run.own))
    throw refusal('share_refused', 'The package that bears this signer’s number is not its own')
  const canonical = canonicalJson([run.ceremony, ...[...all.values()].map(text)])
  run.transcript = createHash('sha256').update(canonical).digest()
  all.delete(index)
  run.packages = all
}

function seal(run: Run, route: { from: number; to: number }, share: Uint8Array): string {
  return sealEnvelope(share, keyOf(run, route, route.to)).toString('base64')
}

function open(
  run: Run,
  route: { from: number; to: number },
  shares: Round3Request['shares'],
): Uint8Array<ArrayBuffer> {
  const envelope = Buffer.from(String(shares[route.from]), 'base64')
  return Uint8Array.from(openEnvelope(envelope, keyOf(run, route, route.from)))
}

const keyOf = (run: Run, route: { from: number; to: number }, peer: number): Buffer =>
  envelopeKey(
    run.exchange.privateKey,
    decode(run.packages.get(peer)?.exchangeKey, PUBLIC_KEY_BYTES),
    { ...route, transcript: run.transcript },
  )

/** A refusal of the library or of a cipher is a fault of the other side, not of this process. */
function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw refusal('share_refused', `Could not go on with the key: ${messageOf(cause)}`, { cause })
  }
}
