// The request as code: of the message that is being written, else of the last one.
import { codeOf, type Language } from '#console/chat/code.ts'
import type { ChatBody } from '#console/chat/stream.ts'
import { apiUrl } from '#console/client/api-url.ts'
import { Copy } from '#console/parts/page/copy.tsx'

const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['curl', 'Copy as curl'],
  ['Python', 'Python'],
  ['TypeScript', 'TypeScript'],
]

export function CodeButtons({ body }: { readonly body: ChatBody }) {
  return (
    <div className="tools">
      {LANGUAGES.map(([language, label]) => (
        <Copy
          key={language}
          className="btn small"
          label={label}
          text={codeOf[language]({ apiUrl: apiUrl(), token: undefined, body })}
        />
      ))}
    </div>
  )
}
