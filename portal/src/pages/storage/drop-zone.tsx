// Files come by a button, or by drag and drop onto the list.
import { useRef, useState, type DragEvent, type ReactNode } from 'react'

type FilesProps = { readonly onFiles: (files: readonly File[]) => void }

export function DropZone({ onFiles, children }: FilesProps & { readonly children: ReactNode }) {
  const [isOver, setOver] = useState(false)
  const over = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    setOver(true)
  }
  return (
    // The button does the same for keyboards.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      aria-label="Objects"
      className={isOver ? 'drop-zone over' : 'drop-zone'}
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onFiles([...event.dataTransfer.files])
      }}
    >
      {children}
    </section>
  )
}

export function UploadButton({ onFiles }: FilesProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" className="btn primary" onClick={() => input.current?.click()}>
        Upload
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          target.value = ''
        }}
      />
    </>
  )
}
