// A bot for gin-sim in C++, without any library: takes what melds, throws what counts most.
//
//     g++ -O2 -o simple_bot docs/bots/simple_bot.cpp
//     gin-sim tournament "cmd:./simple_bot" simple
//
// What is said is described in docs/protocol.md. It keeps nothing between two questions.

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using Fields = std::map<std::string, std::string>;
using Cards = std::vector<std::string>;

const std::string RANKS = "A23456789TJQK";
const std::string SUITS = "cdhs";

// Reads a line of JSON whose values are text, numbers, true, false or null.
Fields read(const std::string& line) {
    Fields fields;
    std::size_t at = 0;
    while ((at = line.find('"', at)) != std::string::npos) {
        std::size_t end = line.find('"', at + 1);
        std::string name = line.substr(at + 1, end - at - 1);
        at = end + 2;  // past the colon
        bool text = line[at] == '"';
        if (text) ++at;
        end = line.find_first_of(text ? "\"" : ",}", at);
        fields[name] = line.substr(at, end - at);
        at = end + 1;
    }
    return fields;
}

Cards words(const std::string& text) {
    std::istringstream in(text);
    Cards found;
    for (std::string word; in >> word;) found.push_back(word);
    return found;
}

bool has(const Cards& cards, const std::string& card) {
    return std::find(cards.begin(), cards.end(), card) != cards.end();
}

// Whether a card would stand in a meld of a hand: a set or a run of three.
bool makes_meld(Cards hand, const std::string& card) {
    hand.push_back(card);
    int same = 0;
    for (char suit : SUITS) same += has(hand, {card[0], suit});
    if (same >= 3) return true;
    int rank = static_cast<int>(RANKS.find(card[0]));
    for (int low = std::max(rank - 2, 0); low <= std::min(rank, 10); ++low) {
        bool all = true;
        for (int r = low; r < low + 3; ++r) all = all && has(hand, {RANKS[r], card[1]});
        if (all) return true;
    }
    return false;
}

// Of the best discards one at random: all chance comes from the word that was sent.
std::string throws(Fields& view) {
    Cards best = words(view["best_discards"]), thrown = words(view["own_discards"]), fresh;
    // Never a card that it has thrown before, if there is another: that could go on for ever.
    for (const auto& card : best)
        if (!has(thrown, card)) fresh.push_back(card);
    const Cards& among = fresh.empty() ? best : fresh;
    return among[std::stoull(view["word"]) % among.size()];
}

std::string answer(Fields& view) {
    if (view["decision"] == "draw") {
        bool take = makes_meld(words(view["hand"]), view["upcard"]);
        return words(view["allowed"])[take ? 0 : 1];  // take, and pass or draw
    }
    return view["decision"] == "discard" ? throws(view) : "knock";
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        Fields message = read(line);
        if (message["type"] == "hello")
            std::cout << R"({"type":"hello","protocol":1,"name":"simple bot"})" << std::endl;
        else if (message["type"] == "decide")
            std::cout << R"({"id":)" << message["id"] << R"(,"answer":")" << answer(message)
                      << R"("})" << std::endl;
        else if (message["type"] == "quit")
            return 0;
    }
}
