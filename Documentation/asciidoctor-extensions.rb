# SPDX-License-Identifier: GPL-2.0-only
# linkperf:command[section], as perf's own pages use it.
require 'asciidoctor'
require 'asciidoctor/extensions'

class LinkPerfProcessor < Asciidoctor::Extensions::InlineMacroProcessor
  use_dsl
  named :linkperf

  def process(parent, target, attrs)
    create_inline parent, :quoted, "#{target}(#{attrs[1] || attrs['text']})"
  end
end

Asciidoctor::Extensions.register { inline_macro LinkPerfProcessor }
