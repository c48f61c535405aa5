// How this browser shows things: kept in it alone.
import { useSyncExternalStore } from 'react'
import { Select } from '#console/parts/forms/choices.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { settings } from '#console/parts/browser/settings.ts'

const ZONES = [
  ['UTC', 'UTC, as the ledger has them'],
  ['local', 'Local time'],
] as const
const THEMES = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const
const KEYS = [
  ['on', 'On: g o, j, k, c, /'],
  ['off', 'Off'],
] as const

type Name = Parameters<typeof settings.get>[0]
const useSetting = <N extends Name>(name: N) =>
  useSyncExternalStore(settings.subscribe, () => settings.get(name))

export function Browser() {
  return (
    <Section title="This browser" aside="kept here alone">
      <div className="settings-row">
        <Select
          label="Times"
          value={useSetting('zone')}
          options={ZONES}
          onChange={(zone) => settings.set('zone', zone)}
        />
        <Select
          label="Theme"
          value={useSetting('theme')}
          options={THEMES}
          onChange={(theme) => settings.set('theme', theme)}
        />
        <Select
          label="Single keys"
          value={useSetting('keys')}
          options={KEYS}
          onChange={(keys) => settings.set('keys', keys)}
        />
      </div>
    </Section>
  )
}
