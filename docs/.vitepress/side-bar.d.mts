interface Item {
  readonly text: string
  readonly link: string
}

export declare const sideBar: readonly { readonly text: string; readonly items: readonly Item[] }[]
