// What a workload was deployed with: image, port, command, health, hosts, and the names of its variables.
import type { ReactNode } from 'react'
import { bytesShort } from '#console/figures/amounts.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { Section } from '#console/parts/page/section.tsx'
import type { Workload } from './workload.ts'

export function Settings({ one }: { readonly one: Workload }) {
  const { image, digest, port, command, health, routes, env, secrets, live_version: live } = one
  const of = live === null ? `version ${one.version}, which does not answer yet` : `version ${live}`
  return (
    <Section title="As it was deployed" aside={of}>
      <div className="stack">
        <dl className="pairs">
          {pair('Image', image)}
          {pair('Digest', digest)}
          {pair('Port', port)}
          {pair('Command', command?.join(' '))}
          {pair('Health', health && `${health.path}, each ${health.interval}`)}
          {pair('Hosts', routes.join(', '))}
          {pair('Volumes', one.volumes.map(volumeWords).join('; '))}
          {pair('Variables', env.join(', '))}
          {pair('Secrets', secrets.join(', '))}
        </dl>
        <Command label="Deploy another version" text="ergon deploy" />
        <p className="small">
          Values are never shown again. A version that does not become ready never answers.
        </p>
      </div>
    </Section>
  )
}

/** Nothing of what it does not have. */
const pair = (term: string, value: ReactNode) =>
  value === null || value === undefined || value === '' ? null : (
    <>
      <dt>{term}</dt>
      <dd className="id">{value}</dd>
    </>
  )

const volumeWords = (one: Workload['volumes'][number]): string =>
  `${one.name}${one.path === null ? '' : ` at ${one.path}`}, ${bytesShort(BigInt(one.used_bytes))} of ${bytesShort(BigInt(one.size_bytes))}`
