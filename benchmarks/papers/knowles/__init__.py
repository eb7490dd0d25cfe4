"""The tables of Lo and Knowles 2023: do rankings hold when segments, documents or snippets are drawn?"""
