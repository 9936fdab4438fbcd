#include "completion.h"

#include <cstdio>

#include "commands.h"

namespace leapp::cli {
namespace {

// The completions after a word of a command.
struct Word {
  std::string text;  // "--json"
  std::string about;
  bool takes_value = false;
};

std::vector<Word> options_of(const CLI::App& app) {
  std::vector<Word> words;
  for (const CLI::Option* option : app.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    for (const std::string& name : option->get_lnames()) {
      words.push_back({"--" + name, option->get_description(), takes_value});
    }
    for (const std::string& name : option->get_snames()) {
      words.push_back({"-" + name, option->get_description(), takes_value});
    }
  }
  return words;
}

// The values of a positional argument, for example the shells of `completion`.
std::vector<std::string> choices_of(const CLI::App& app) {
  return app.get_name() == "completion" ? std::vector<std::string>{"bash", "zsh", "fish"}
                                        : std::vector<std::string>{};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string texts_of(const std::vector<Word>& words) {
  std::vector<std::string> texts;
  for (const Word& word : words) texts.push_back(word.text);
  return joined(texts);
}

std::string names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return joined(names);
}

// Returns the text in single quotes, for a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string bash_script(const CLI::App& program, const std::vector<const CLI::App*>& commands) {
  std::string cases;
  for (const CLI::App* command : commands) {
    const std::vector<Word> options = options_of(*command);
    cases += "    " + command->get_name() + ") words=" + quoted(texts_of(options)) +
             "; values=" + quoted(joined(choices_of(*command))) + " ;;\n";
  }
  return "# bash completion of leapp: source <(leapp completion bash)\n"
         "_leapp() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} words= values=\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W " +
         quoted(names_of(commands) + " " + texts_of(options_of(program))) +
         " -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  elif [ -n \"$values\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _leapp leapp\n";
}

// A description in the brackets of zsh's _arguments.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_script(const std::vector<const CLI::App*>& commands) {
  std::string described;
  std::string cases;
  for (const CLI::App* command : commands) {
    described +=
        "    " + quoted(zsh_text(command->get_name()) + ":" + command->get_description()) + "\n";
    cases += "    " + command->get_name() + ") _arguments \\\n";
    for (const Word& option : options_of(*command)) {
      cases += "      " +
               quoted(option.text + "[" + zsh_text(option.about) + "]" +
                      (option.takes_value ? ":value:_files" : "")) +
               " \\\n";
    }
    const std::vector<std::string> choices = choices_of(*command);
    cases += "      " +
             quoted(choices.empty() ? "*:file:_files" : "1:shell:(" + joined(choices) + ")") +
             " ;;\n";
  }
  return "#compdef leapp\n"
         "# zsh completion of leapp: leapp completion zsh > DIRECTORY_OF_FPATH/_leapp\n"
         "_leapp() {\n"
         "  local -a commands=(\n" +
         described +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $words[1] in\n" +
         cases +
         "  esac\n"
         "}\n"
         "compdef _leapp leapp\n";
}

std::string fish_script(const std::vector<const CLI::App*>& commands) {
  std::string script = "# fish completion of leapp: leapp completion fish | source\n";
  for (const CLI::App* command : commands) {
    script += "complete -c leapp -f -n __fish_use_subcommand -a " + command->get_name() + " -d " +
              quoted(command->get_description()) + "\n";
    const std::string here =
        "complete -c leapp -n '__fish_seen_subcommand_from " + command->get_name() + "'";
    for (const std::string& choice : choices_of(*command))
      script += here + " -f -a " + choice + "\n";
    for (const Word& option : options_of(*command)) {
      const bool is_long = option.text.starts_with("--");
      script += here + (is_long ? " -l " : " -s ") + option.text.substr(is_long ? 2 : 1) +
                (option.takes_value ? " -r" : "") + " -d " + quoted(option.about) + "\n";
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& program, const std::string& shell) {
  const std::vector<const CLI::App*> commands =
      program.get_subcommands([](const CLI::App*) { return true; });
  if (shell == "bash") return bash_script(program, commands);
  if (shell == "zsh") return zsh_script(commands);
  return fish_script(commands);
}

Command add_completion(CLI::App& program) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* app = program.add_subcommand("completion", "print a completion script for a shell");
  app->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app->footer("Example: source <(leapp completion bash)");
  return {app, [&program, shell] {
            std::fputs(completion_script(program, *shell).c_str(), stdout);
            return kDone;
          }};
}

}  // namespace leapp::cli
