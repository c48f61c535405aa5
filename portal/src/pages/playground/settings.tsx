// Model, longest answer, temperature: the first two bound what an answer can cost.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import { Select } from '#console/parts/forms/choices.tsx'
import type { ChatSettings } from './use-chat.ts'

const LENGTHS = [64, 256, 1024, 4096]
const TEMPERATURES = [0, 0.3, 0.7, 1, 1.3]

export function Settings(props: {
  readonly settings: ChatSettings
  readonly onSettings: (settings: ChatSettings) => void
}) {
  const { settings, onSettings } = props
  const models = useQuery(read('GET /v1/models', {}))
  const names = (models.data?.data ?? [])
    .filter(({ modalities }) => modalities.includes('text'))
    .map(({ id }) => id)
  const listed = names.includes(settings.model) ? names : [settings.model, ...names]
  return (
    <div className="settings">
      <Select
        label="Model"
        value={settings.model}
        options={listed.map((name) => [name, name] as const)}
        onChange={(model) => onSettings({ ...settings, model })}
      />
      <Select
        label="Longest answer"
        value={String(settings.tokensMax)}
        options={LENGTHS.map((length) => [String(length), `${length} tokens`] as const)}
        onChange={(length) => onSettings({ ...settings, tokensMax: Number(length) })}
      />
      <Select
        label="Temperature"
        value={String(settings.temperature)}
        options={TEMPERATURES.map((value) => [String(value), String(value)] as const)}
        onChange={(value) => onSettings({ ...settings, temperature: Number(value) })}
      />
    </div>
  )
}
