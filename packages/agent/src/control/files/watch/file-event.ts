export interface FileEvent {
  readonly type: 'CREATE' | 'WRITE' | 'DELETE' | 'RENAME' | 'OVERFLOW'
  readonly path: string
  readonly name?: string
  readonly is_dir?: boolean
}
