// Recovery codes, shown only now: kept as a file or from the clipboard.
import { Copy } from '#console/parts/page/copy.tsx'
import { saveAs } from '#console/parts/browser/save.ts'

export const RecoveryCodes = (props: {
  readonly codes: readonly string[]
  readonly onKept: () => void
}) => {
  const { codes, onKept } = props
  const text = `Ergon recovery codes of ${location.host}\n\n${codes.join('\n')}\n`
  return (
    <>
      <p className="small">
        If all your devices are lost, one code lets you in once. They are shown only now.
      </p>
      <ol className="codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <div className="tools">
        <button
          type="button"
          className="btn primary"
          onClick={() => saveAs('ergon-recovery-codes.txt', 'text/plain', text)}
        >
          Download
        </button>
        <Copy text={codes.join('\n')} />
        <button type="button" className="btn" onClick={onKept}>
          I have kept them
        </button>
      </div>
    </>
  )
}
