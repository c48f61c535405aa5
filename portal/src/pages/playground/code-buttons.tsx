// The last question as code.
import { codeOf, type Language } from '../../chat/code.ts'
import { useApiUrl } from '../../client/api-url.ts'
import { Copy } from '../../parts/copy.tsx'
import type { Turn } from './turn.ts'
import { bodyOf, type ChatSettings } from './use-chat.ts'

const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['curl', 'Copy as curl'],
  ['Python', 'Python'],
  ['TypeScript', 'TypeScript'],
]
const EXAMPLE = 'What is the capital of France?'

export function CodeButtons(props: {
  readonly turns: readonly Turn[]
  readonly settings: ChatSettings
}) {
  const { turns, settings } = props
  const apiUrl = useApiUrl()
  const question = turns.at(-1)?.question ?? EXAMPLE
  const body = bodyOf(turns.slice(0, -1), question, settings)
  return (
    <div className="tools">
      {LANGUAGES.map(([language, label]) => (
        <Copy
          key={language}
          className="btn small"
          label={label}
          text={codeOf[language]({ apiUrl, token: undefined, body })}
        />
      ))}
    </div>
  )
}
